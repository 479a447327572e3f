#pragma once
#include <string>
#include <string_view>

namespace warplab {

/// Bytes of the UTF-8 sequence that begins at `at` (< text.size()), or 0 where none does.
std::size_t utf8_length(std::string_view text, std::size_t at);

/// The text with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string to_valid_utf8(std::string_view text);

/// For a terminal: valid UTF-8 without control characters but line feeds, so that no escape sequence gets through.
/// Tabs become spaces up to the next multiple of 8; other control characters become `?`; carriage returns vanish.
std::string to_printable(std::string_view text);

/// Columns the text takes on a terminal, a column per code point.
std::size_t display_width(std::string_view text);

}  // namespace warplab
