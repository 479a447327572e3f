#pragma once
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <optional>
#include <string>

namespace warplab {

/// Return the bytes of a file; nothing if it cannot be opened or reading it fails, as on a network drive.
inline std::optional<std::string> try_read_file(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return std::nullopt;
    try {
        return std::string{std::istreambuf_iterator<char>(stream), {}};
    } catch (const std::ios_base::failure&) {
        return std::nullopt;
    }
}

/// Return the bytes of a file; empty if it cannot be read.
inline std::string read_file(const std::filesystem::path& file) { return try_read_file(file).value_or(""); }

}  // namespace warplab
