#include "grader/common/text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "grader/common/utf8.h"

namespace warplab {
namespace {

struct Unit {
    double size;
    const char* name;
};

/// Format a value in the largest unit that leaves at least 1 after rounding to three digits.
template <std::size_t count>
std::string in_units(double value, const Unit (&units)[count]) {
    for (const auto& unit : units)
        if (std::abs(value) >= 0.9995 * unit.size) return format_number(value / unit.size) + unit.name;
    return format_number(value / units[count - 1].size) + units[count - 1].name;
}

std::string without_trailing_zeros(std::string digits) {
    if (digits.find('.') == std::string::npos) return digits;
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits;
}

int terminal_width(int descriptor) {
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const char* columns = std::getenv("COLUMNS");
    const int width = columns ? std::atoi(columns) : 0;
    return width > 0 ? width : 80;
}

/// Wrap one paragraph without line feeds.
std::string wrap_paragraph(std::string_view text, std::size_t indent, std::size_t width) {
    const std::string margin(indent, ' ');
    std::string lines, line;
    for (std::size_t at = 0; at < text.size();) {
        const auto space = std::min(text.find(' ', at), text.size());
        const auto word = text.substr(at, space - at);
        at = space + 1;
        if (word.empty()) continue;
        if (!line.empty() && indent + display_width(line) + 1 + display_width(word) > width) {
            lines += margin + line + "\n";
            line.clear();
        }
        if (!line.empty()) line += ' ';
        line += word;
    }
    return line.empty() ? lines : lines + margin + line + "\n";
}

}  // namespace

std::string format_number(double value, int digits) {
    if (!std::isfinite(value)) return std::isnan(value) ? "unknown" : value > 0 ? "infinite" : "-infinite";
    if (value == 0) return "0";
    const double magnitude = std::floor(std::log10(std::abs(value)));
    const int decimals = std::clamp(digits - 1 - static_cast<int>(magnitude), 0, 15);
    const auto rounded = fmt::format("{:.{}f}", value, decimals);
    const bool gained_digit = std::abs(std::stod(rounded)) >= std::pow(10, magnitude + 1);  // 9.996 became 10.00
    return gained_digit && decimals > 0 ? fmt::format("{:.{}f}", value, decimals - 1) : rounded;
}

std::string format_seconds(double seconds) {
    if (seconds == 0) return "0 s";
    static constexpr Unit units[] = {{1, " s"}, {1e-3, " ms"}, {1e-6, " us"}, {1e-9, " ns"}};
    return in_units(seconds, units);
}

std::string format_bytes(double bytes) {
    static constexpr Unit units[] = {
        {1ull << 40, " TB"}, {1ull << 30, " GB"}, {1ull << 20, " MB"}, {1ull << 10, " KB"}};
    const bool is_whole = std::isfinite(bytes) && std::floor(bytes) == bytes;
    const bool whole_unit = is_whole && bytes != 0 && std::fmod(bytes, 1024) == 0;
    if (is_whole && bytes >= 0 && bytes < 100'000 && !whole_unit)
        return bytes == 1 ? "1 byte" : format_count(static_cast<std::uint64_t>(bytes)) + " bytes";
    const auto text = in_units(bytes, units);
    const auto space = text.find(' ');
    return without_trailing_zeros(text.substr(0, space)) + text.substr(space);
}

std::string format_bandwidth(double bytes_per_s) { return format_number(bytes_per_s / 1e9) + " GB/s"; }

std::string format_count(std::uint64_t count) {
    auto digits = std::to_string(count);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
    return digits;
}

std::string format_points(double points) { return without_trailing_zeros(fmt::format("{:.2f}", points)); }

std::string format_factor(double factor) { return format_number(factor) + "x"; }

std::string format_share(double share) { return format_number(100 * share, 2) + "%"; }

std::string format_plural(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string shorten(std::string text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) return text;
    text.resize(utf8_boundary(text, max_bytes));
    return text + "…";
}

TextStyle text_style(int descriptor) {
    const char* no_colour = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    const bool refused = (no_colour && *no_colour) || (term && std::string_view(term) == "dumb");
    return {::isatty(descriptor) == 1 && !refused, terminal_width(descriptor)};
}

std::string paint(const std::string& text, Colour colour, const TextStyle& style) {
    return style.colour && !text.empty() ? fmt::format("\033[{}m{}\033[0m", static_cast<int>(colour), text) : text;
}

std::string wrap(std::string_view text, int indent, int width) {
    const auto printable = to_printable(text);
    std::string wrapped;
    for (std::size_t at = 0; at <= printable.size();) {
        const auto end = std::min(printable.find('\n', at), printable.size());
        wrapped += wrap_paragraph(std::string_view(printable).substr(at, end - at), static_cast<std::size_t>(indent),
                                  static_cast<std::size_t>(std::max(width, indent + 20)));
        at = end + 1;
    }
    return wrapped;
}

}  // namespace warplab
