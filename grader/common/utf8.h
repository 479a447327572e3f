#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace warplab {

/// Bytes of the UTF-8 sequence that begins at `at` (< text.size()), or 0 where none does.
std::size_t utf8_length(std::string_view text, std::size_t at);

/// Return the first byte of the character that holds the byte at `at` (<= text.size()).
std::size_t utf8_boundary(std::string_view text, std::size_t at);

/// The text with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string to_valid_utf8(std::string_view text);

/// Valid UTF-8 whose only control characters are line feeds and tabs, so that no escape sequence gets through, and
/// without invisible characters that turn directions, join or end lines: they become `?`. Carriage returns vanish.
std::string to_harmless(std::string_view text);

/// The same for a terminal: tabs become spaces up to the next multiple of 8.
std::string to_printable(std::string_view text);

/// Text from outside, such as the fields of an imported report. It does not convert to std::string and cannot be
/// formatted: the compiler lets it be printed only through for_terminal().
class Foreign {
  public:
    explicit Foreign(std::string text) : text_(std::move(text)) {}
    /// Return one line that cannot change the text around it.
    std::string for_terminal() const;

  private:
    std::string text_;
};

/// Columns the text takes on a terminal, a column per code point.
std::size_t display_width(std::string_view text);

}  // namespace warplab
