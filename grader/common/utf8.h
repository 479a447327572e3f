#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace warplab {

/// Return the length in bytes of the UTF-8 sequence that begins at `at` (< text.size()); 0 if none begins there.
std::size_t utf8_length(std::string_view text, std::size_t at);

/// Return the position of the first byte of the character that contains the byte at `at` (<= text.size()).
std::size_t utf8_boundary(std::string_view text, std::size_t at);

/// Return the text with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string to_valid_utf8(std::string_view text);

/// Return valid UTF-8 whose only control characters are line feeds and tabs, so that it contains no escape sequence.
/// Carriage returns are removed. Other control characters and invisible characters, for example those that change the
/// direction of the text or join letters, become `?`.
std::string to_harmless(std::string_view text);

/// Return to_harmless(text) with each tab replaced by spaces, up to the next column that is a multiple of 8.
std::string to_printable(std::string_view text);

/// Untrusted text, such as the fields of an imported report. It does not convert to std::string and cannot be
/// formatted, so that it can be printed only through for_terminal().
class UntrustedText {
  public:
    explicit UntrustedText(std::string text) : text_(std::move(text)) {}
    /// Return one line that cannot affect the text around it.
    std::string for_terminal() const;

  private:
    std::string text_;
};

/// Return the columns that the text takes on a terminal, one column per code point.
std::size_t display_width(std::string_view text);

}  // namespace warplab
