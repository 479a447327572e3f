#pragma once
// Formats numbers and words for people to read in a terminal.

#include <cstdint>
#include <string>
#include <string_view>

namespace warplab {

/// Return significant digits without an exponent: 0.00123, 12.3, 45678.
std::string format_number(double value, int digits = 3);
/// Return a time in the most suitable unit: "812 ns", "12.3 us", "4.56 ms", "1.23 s".
std::string format_seconds(double seconds);
/// Return a size: "1 byte", "48 KB" (of 1024 bytes, as in CUDA's documents), "1.5 GB"; exact below 100,000 bytes.
std::string format_bytes(double bytes);
/// Return a bandwidth in units of 10^9 bytes per second: "4277 GB/s".
std::string format_bandwidth(double bytes_per_s);
/// Return the number with commas: "1,048,576".
std::string format_count(std::uint64_t count);
/// Return the points with at most two decimals: "10", "7.5".
std::string format_points(double points);
/// Return a speedup or a ratio: "14.2x".
std::string format_factor(double factor);
/// Return a fraction as a percentage: "95%", "3.2%".
std::string format_share(double share);
/// Return the number and the noun, which gets an s if needed: "1 dataset", "3 datasets".
std::string format_plural(std::uint64_t count, std::string_view noun);

struct TextStyle {
    bool colour = false;
    int width = 80;
};
/// Return the style for a descriptor: with colours if it is a terminal and the environment does not refuse colours
/// (NO_COLOR, TERM=dumb), and with the width of the terminal, of COLUMNS, or 80.
TextStyle text_style(int descriptor);

enum class Colour { bold = 1, red = 31, green = 32, yellow = 33 };
std::string paint(const std::string& text, Colour colour, const TextStyle& style);

/// Return whether the character may be part of a C++ identifier.
bool is_word_character(char c);

/// Return the text if it has at most `max_bytes` bytes; otherwise, its first bytes, without a partial UTF-8 character,
/// and "…".
std::string shorten(std::string text, std::size_t max_bytes);

/// Wrap at spaces. Each line begins with `indent` spaces; line feeds in the text are kept. The result ends with a line
/// feed.
std::string wrap(std::string_view text, int indent, int width);

}  // namespace warplab
