#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace warplab {

/// Return the SHA-256 as 64 lower-case hex digits.
std::string sha256(std::string_view bytes);
/// Do the same for a file. Throws std::runtime_error if the file cannot be read.
std::string sha256_file(const std::filesystem::path& file);

/// Return the course secret, which is in datasets/.secret (32 random bytes as hex). Create the file if it is missing;
/// git ignores it.
std::string course_secret(const std::filesystem::path& root);

/// Return the first 8 bytes of HMAC-SHA256(secret, name) as a seed. Throws std::invalid_argument if the secret is
/// empty.
std::uint64_t hidden_seed(std::string_view secret, std::string_view name);

}  // namespace warplab
