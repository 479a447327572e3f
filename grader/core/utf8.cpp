#include "grader/core/utf8.h"

#include <algorithm>

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

std::string to_valid_utf8(std::string_view text) {
    std::string valid;
    for (std::size_t at = 0; at < text.size();) {
        const auto length = utf8_length(text, at);
        valid += length > 0 ? text.substr(at, length) : "\ufffd";
        at += std::max<std::size_t>(length, 1);
    }
    return valid;
}

std::string to_printable(std::string_view text) {
    const auto valid = to_valid_utf8(text);
    std::string printable;
    std::size_t column = 0;
    for (std::size_t at = 0; at < valid.size();) {
        const auto length = utf8_length(valid, at);
        const auto character = std::string_view(valid).substr(at, length);
        const auto lead = static_cast<unsigned char>(character[0]);
        const bool is_c1 = lead == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
        at += length;
        if (lead == '\r') continue;
        const std::size_t spaces = lead == '\t' ? 8 - column % 8 : 0;
        if (spaces > 0)
            printable.append(spaces, ' ');
        else if (lead != '\n' && (lead < 0x20 || lead == 0x7f || is_c1))
            printable += '?';
        else
            printable += character;
        column = lead == '\n' ? 0 : column + std::max<std::size_t>(spaces, 1);
    }
    return printable;
}

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace warplab
