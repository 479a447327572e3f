#pragma once
// The CUDA programs in samples/, typical of courses: each checks itself and exits with status 0.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/paths.h"

namespace warplab::rewriter::test {

inline std::filesystem::path samples_folder() {
    return warplab::test::root_folder() / "tests" / "cpu" / "rewriter" / "samples";
}

inline std::vector<std::filesystem::path> sample_paths() {
    std::vector<std::filesystem::path> paths;
    for (const auto& file : std::filesystem::directory_iterator(samples_folder())) paths.push_back(file.path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

/// Quote for a shell. The path must not contain a single quote.
inline std::string quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

}  // namespace warplab::rewriter::test
