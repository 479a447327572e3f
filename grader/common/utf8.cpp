#include "grader/common/utf8.h"

#include <algorithm>
#include <iterator>

namespace warplab {

std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
    const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
    const bool too_high = lead == 0xf4 && byte(1) >= 0x90;
    return overlong || surrogate || too_high ? 0 : length;
}

std::size_t utf8_boundary(std::string_view text, std::size_t at) {
    constexpr std::size_t max_continued = 3;  // bytes after a character's first
    const auto continues = [&](std::size_t i) { return i < text.size() && (text[i] & 0xc0) == 0x80; };
    std::size_t begin = at;
    while (begin > 0 && at - begin < max_continued && continues(begin)) --begin;
    return begin;
}

std::string to_valid_utf8(std::string_view text) {
    std::string valid;
    for (std::size_t at = 0; at < text.size();) {
        const auto length = utf8_length(text, at);
        valid += length > 0 ? text.substr(at, length) : "\ufffd";
        at += std::max<std::size_t>(length, 1);
    }
    return valid;
}

namespace {

struct Range {
    char32_t first, last;
};
/// Unicode's categories Cf, Zl and Zp: invisible characters that affect how the text around them is displayed.
constexpr Range invisible[] = {{0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},
                               {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},
                               {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x2064},   {0x2066, 0x206f},
                               {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
                               {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0001, 0xe0001},
                               {0xe0020, 0xe007f}};

/// Decode one valid UTF-8 sequence.
char32_t code_point(std::string_view character) {
    const auto lead = static_cast<unsigned char>(character[0]);
    if (character.size() == 1) return lead;
    char32_t code = lead & (0x7fu >> character.size());
    for (const char c : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fu);
    return code;
}

bool is_hidden(std::string_view character) {
    const char32_t code = code_point(character);
    const bool control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0);
    return control || std::ranges::any_of(
                          invisible, [&](const Range& range) { return range.first <= code && code <= range.last; });
}

}  // namespace

std::string to_harmless(std::string_view text) {
    const auto valid = to_valid_utf8(text);
    std::string harmless;
    for (std::size_t at = 0; at < valid.size();) {
        const auto character = std::string_view(valid).substr(at, utf8_length(valid, at));
        at += character.size();
        if (character != "\r") harmless += is_hidden(character) ? "?" : character;
    }
    return harmless;
}

std::string to_printable(std::string_view text) {
    std::string printable;
    std::size_t column = 0;
    for (const char byte : to_harmless(text)) {
        const bool begins_character = (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
        const std::size_t columns = byte == '\t' ? 8 - column % 8 : begins_character ? 1 : 0;
        if (byte == '\t')
            printable.append(columns, ' ');
        else
            printable += byte;
        column = byte == '\n' ? 0 : column + columns;
    }
    return printable;
}

std::string UntrustedText::for_terminal() const {
    std::string line = to_printable(text_);
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace warplab
