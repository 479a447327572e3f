#include "grader/judge/present/board.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/common/utf8.h"

namespace warplab {
namespace {

constexpr std::size_t gap = 2;

/// Return the dataset's name and sizes: "plate rows=70 columns=45".
std::string describe(const std::string& name, const Lab& lab) {
    std::string words = to_printable(name);
    const auto dataset = std::ranges::find(lab.datasets, name, &Dataset::name);
    if (dataset == lab.datasets.end()) return words;
    for (const std::string& size : lab.sizes) {
        const auto iterator = dataset->parameters.find(size);
        if (iterator == dataset->parameters.end()) continue;
        if (const auto* value = std::get_if<std::int64_t>(&iterator->second))
            words += fmt::format(" {}={}", size, format_count(static_cast<std::uint64_t>(*value)));
    }
    return words;
}

std::string mark(const Check& check, const TextStyle& style) {
    if (check.skipped || !check.blocked_by.empty()) return "-";
    return check.verdict == Verdict::passed ? paint("✓", Colour::green, style) : paint("✗", Colour::red, style);
}

}  // namespace

std::string render_board(const StageReport& stage, const Lab& lab, const TextStyle& style) {
    std::string text;
    std::size_t column = 0;
    for (const Check& check : stage.checks) {
        const std::string words = describe(check.dataset, lab);
        const std::size_t width = 2 + words.size();
        if (column > 0 && column + gap + width > static_cast<std::size_t>(style.width)) {
            text += "\n";
            column = 0;
        }
        if (column > 0) text += std::string(gap, ' ');
        column += (column > 0 ? gap : 0) + width;
        text += mark(check, style) + " " + words;
    }
    return text.empty() ? "" : text + "\n";
}

}  // namespace warplab
