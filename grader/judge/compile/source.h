#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace warplab {

/// A file to judge. It is read only once, because its owner may change it or replace it by a link at any time, and all
/// steps must judge the same text.
class Source {
  public:
    Source(std::filesystem::path file);  // NOLINT: a path is enough to name a source

    const std::filesystem::path& file() const { return file_; }
    bool is_link() const { return is_link_; }            // the file itself
    bool is_in_a_link() const { return is_in_a_link_; }  // the file's folder is a link

    /// Return the file's bytes; nothing if it is not a plain file, cannot be read, or has more than max_bytes. In the
    /// last case it was not read, because it may be larger than the memory.
    const std::optional<std::string>& bytes() const { return *bytes_; }

    /// Return the bytes; empty if there are none.
    std::string text() const { return bytes_->value_or(""); }

    /// Return the SHA-256 of the bytes as hex digits; empty if there are none.
    std::string hash() const;

    static constexpr std::size_t max_bytes = 1 << 20;

  private:
    std::filesystem::path file_;
    bool is_link_ = false, is_in_a_link_ = false;
    std::shared_ptr<const std::optional<std::string>> bytes_;
};

}  // namespace warplab
