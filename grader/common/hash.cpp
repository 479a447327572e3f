#include "grader/common/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "grader/common/descriptor.h"
#include "grader/common/read_file.h"

namespace warplab {
namespace {

namespace fs = std::filesystem;

std::string to_hex(const unsigned char* bytes, std::size_t count) {
    std::string hex;
    for (std::size_t i = 0; i < count; ++i) hex += fmt::format("{:02x}", bytes[i]);
    return hex;
}

class Sha256 {
  public:
    Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
        require(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
    }
    void add(const char* bytes, std::size_t count) { require(EVP_DigestUpdate(context_.get(), bytes, count) == 1); }
    std::string hex() {
        unsigned char digest[EVP_MAX_MD_SIZE];
        unsigned int length = 0;
        require(EVP_DigestFinal_ex(context_.get(), digest, &length) == 1);
        return to_hex(digest, length);
    }

  private:
    static void require(bool worked) {
        if (!worked) throw std::runtime_error("libcrypto cannot compute SHA-256");
    }
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

bool is_secret(const std::string& text) {
    const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    return text.size() == 64 && std::ranges::all_of(text, is_hex);
}

std::string read_secret(const fs::path& file) {
    const auto bytes = try_read_file(file);
    if (!bytes)
        throw std::runtime_error(fmt::format("{} cannot be read; check its owner and permissions", file.string()));
    std::string text = *bytes;
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
    if (!is_secret(text))
        throw std::runtime_error(
            fmt::format("{} does not hold the 64 hex digits of a course secret; put the course's "
                        "secret back, or remove the file to begin with a new one",
                        file.string()));
    return text;
}

std::string random_secret() {
    std::array<unsigned char, 32> bytes;
    if (RAND_bytes(bytes.data(), bytes.size()) != 1) throw std::runtime_error("the system provides no random bytes");
    return to_hex(bytes.data(), bytes.size());
}

[[noreturn]] void fail_to_write(const fs::path& file) {
    throw std::runtime_error(fmt::format("cannot write the course secret {}: {}; make its folder writable",
                                         file.string(), std::strerror(errno)));
}

/// Write the text to a new file next to `file`, and return its name. Only the owner can read the new file.
std::string write_draft(const fs::path& file, const std::string& text) {
    std::string name = file.string() + ".XXXXXX";
    Descriptor draft(::mkstemp(name.data()));
    if (!draft) fail_to_write(file);
    const bool written = ::write(draft.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                         ::fsync(draft.get()) == 0;
    const int error = errno;
    if (written) return name;
    ::unlink(name.c_str());
    errno = error;
    fail_to_write(file);
}

/// Create a secret. A secret is never replaced: if several processes create one at the same time, all use the secret of
/// the process that first links its file.
void create_secret(const fs::path& file) {
    const auto draft = write_draft(file, random_secret() + "\n");
    const bool linked = ::link(draft.c_str(), file.c_str()) == 0 || errno == EEXIST;
    const int error = errno;
    ::unlink(draft.c_str());
    errno = error;
    if (!linked) fail_to_write(file);
}

}  // namespace

std::string sha256(std::string_view bytes) {
    Sha256 hash;
    hash.add(bytes.data(), bytes.size());
    return hash.hex();
}

std::string sha256_file(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    Sha256 hash;
    std::array<char, 1 << 16> block;
    while (stream.read(block.data(), block.size()) || stream.gcount() > 0) hash.add(block.data(), stream.gcount());
    if (!stream.eof()) throw std::runtime_error(fmt::format("{} cannot be read", file.string()));
    return hash.hex();
}

std::string course_secret(const fs::path& root) {
    const auto file = root / "datasets" / ".secret";
    if (!fs::exists(file)) create_secret(file);
    return read_secret(file);
}

std::uint64_t hidden_seed(std::string_view secret, std::string_view name) {
    if (secret.empty()) throw std::invalid_argument("hidden seeds need the course secret");
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    const auto* worked = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                              reinterpret_cast<const unsigned char*>(name.data()), name.size(), digest, &length);
    if (!worked) throw std::runtime_error("libcrypto cannot compute HMAC-SHA-256");
    std::uint64_t seed = 0;
    for (int i = 0; i < 8; ++i) seed = seed << 8 | digest[i];
    return seed;
}

}  // namespace warplab
