#include "grader/judge/present/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "grader/common/utf8.h"
#include "grader/judge/present/render.h"

namespace warplab {
namespace {

enum Column {
    stage_column,
    verdict_column,
    points_column,
    seconds_column,
    core_column,
    openmp_column,
    reference_column,
    bound_column,
    column_count
};
constexpr std::array<const char*, column_count> titles = {"stage",  "verdict", "points", "seconds",
                                                          "1 core", "OpenMP",  "ref",    "bound"};

struct Line {
    std::array<std::string, column_count> cells;
    std::string remark;              // what limits the stage, or why it did not pass
    std::optional<Verdict> verdict;  // colours the cell of the verdict
};

std::string why_not_passed(const StageReport& stage) {
    if (stage.error) return stage.error->cause;
    if (stage.compilation.failure) return stage.compilation.failure->cause;
    for (const auto& check : stage.checks)
        if (!check.skipped && check.verdict != Verdict::passed)
            return (check.failure ? check.failure->cause + " in " : "see ") + check.dataset;
    const Finding* finding = first_finding(stage);
    return finding ? fmt::format("{} in line {}", finding->cause, finding->line) : "";
}

void add_timing(const Measurement& measured, Line& line) {
    const auto set = [&](Column column, double value, const std::string& text) {
        if (value > 0) line.cells[column] = text;
    };
    const auto sequential = measured.speedup_sequential(), openmp = measured.speedup_openmp();
    set(seconds_column, measured.median_s, format_number(measured.median_s, 4));
    set(core_column, sequential, format_factor(sequential));
    set(openmp_column, openmp, format_factor(openmp));
    set(bound_column, measured.bound_fraction(), format_share(measured.bound_fraction()));
    if (line.remark.empty()) line.remark = measured.limit;
    if (!measured.reference_ratio) return;
    const double ratio = measured.reference_ratio->median;
    set(reference_column, ratio, format_factor(ratio) + (measured.ambiguous ? "?" : ""));
}

std::string points_cell(const Score& score) {
    return fmt::format("{}/{}{}", format_points(score.total()), format_points(score.max()),
                       pending(score) > 0 ? "*" : " ");
}

/// Return a stage's line. If several datasets were timed, each has its own line below.
std::vector<Line> lines_of(const StageReport& stage) {
    Line line;
    line.cells[stage_column] = to_printable(stage.stage);
    line.cells[verdict_column] = verdict_name(stage.verdict);
    line.verdict = stage.verdict;
    if (stage.score) line.cells[points_column] = points_cell(*stage.score);
    line.remark = why_not_passed(stage);
    if (stage.measurements.size() == 1) add_timing(stage.measurements.front(), line);
    std::vector<Line> lines = {line};
    if (stage.measurements.size() < 2) return lines;
    for (const auto& measured : stage.measurements) {
        lines.emplace_back();
        lines.back().cells[stage_column] = "  " + to_printable(measured.dataset);
        add_timing(measured, lines.back());
    }
    return lines;
}

struct Layout {
    std::array<std::size_t, column_count> widths{};  // 0: empty in every line, so not shown
    std::size_t gap = 2;

    std::size_t total() const {
        std::size_t sum = 0;
        for (const auto width : widths)
            if (width > 0) sum += width + gap;
        return sum - gap;
    }
};

Layout lay_out(const std::vector<std::vector<Line>>& labs, const TextStyle& style) {
    Layout layout;
    for (const auto& lines : labs)
        for (const auto& line : lines)
            for (int i = 0; i < column_count; ++i)
                if (const auto width = display_width(line.cells[i]); width > 0)
                    layout.widths[i] = std::max({layout.widths[i], width, display_width(titles[i])});
    if (layout.total() > static_cast<std::size_t>(style.width)) layout.gap = 1;
    return layout;
}

std::string render_cells(const Line& line, const Layout& layout, const TextStyle& style) {
    std::string row, padding;
    for (int i = 0; i < column_count; ++i) {
        if (layout.widths[i] == 0) continue;
        const std::string space(layout.widths[i] - display_width(line.cells[i]), ' ');
        const bool is_left_aligned = i == stage_column || i == verdict_column;
        const bool coloured = i == verdict_column && line.verdict;
        row += padding + (is_left_aligned ? "" : space);
        row += coloured ? paint(line.cells[i], colour_of(*line.verdict), style) : line.cells[i];
        padding = (is_left_aligned ? space : "") + std::string(layout.gap, ' ');
    }
    return row;
}

std::string without_trailing_spaces(std::string row) { return row.erase(row.find_last_not_of(' ') + 1); }

std::string render_line(const Line& line, const Layout& layout, const TextStyle& style) {
    const auto row = render_cells(line, layout, style);
    const auto remark = to_printable(line.remark);
    const bool fits = layout.total() + 2 + display_width(remark) <= static_cast<std::size_t>(style.width);
    if (remark.empty()) return without_trailing_spaces(row) + "\n";
    return fits ? row + "  " + remark + "\n" : without_trailing_spaces(row) + "\n" + wrap(remark, 4, style.width);
}

std::string render_legend(std::span<const Report> reports, const Layout& layout, const TextStyle& style) {
    std::string legend;
    const auto pending = [](const Report& report) { return report.total().pending > 0; };
    if (std::ranges::any_of(reports, pending)) legend += "*: more points are pending. ";
    if (layout.widths[seconds_column] > 0)
        legend += "seconds: for 1000 iterations. 1 core, OpenMP: speedup over the CPU. ";
    if (layout.widths[reference_column] > 0) legend += "ref: times the reference's time; ?: ambiguous. ";
    if (layout.widths[bound_column] > 0) legend += "bound: share of the bandwidth bound.";
    return legend.empty() ? "" : "\n" + wrap(legend, 0, style.width);
}

}  // namespace

std::string render_table(std::span<const Report> reports, const TextStyle& style) {
    std::vector<std::vector<Line>> labs;
    for (const auto& report : reports) {
        auto& lines = labs.emplace_back();
        for (const auto& stage : report.stages)
            for (auto& line : lines_of(stage)) lines.push_back(std::move(line));
    }
    const auto layout = lay_out(labs, style);
    Line header;
    std::copy(titles.begin(), titles.end(), header.cells.begin());
    for (int i = 0; i < column_count; ++i)
        if (layout.widths[i] == 0) header.cells[i].clear();

    std::string text;
    for (std::size_t i = 0; i < labs.size(); ++i) {
        text += (i > 0 ? "\n" : "") + render_heading(reports[i], style);
        if (!labs[i].empty()) text += without_trailing_spaces(render_cells(header, layout, style)) + "\n";
        for (const auto& line : labs[i]) text += render_line(line, layout, style);
        text += render_total(reports[i], style);
    }
    return text + render_legend(reports, layout, style);
}

}  // namespace warplab
