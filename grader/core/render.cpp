#include "grader/core/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "grader/core/utf8.h"

namespace warplab {
namespace {

constexpr std::size_t most_lines = 40;  // of a compiler's log or a program's output

// --- colours ---

constexpr const char *bold = "1", *red = "31", *green = "32", *yellow = "33";

std::string paint(const std::string& text, const char* colour, const TextStyle& style) {
    return style.colour && !text.empty() ? fmt::format("\033[{}m{}\033[0m", colour, text) : text;
}

const char* colour_of(Verdict verdict) {
    return verdict == Verdict::passed ? green : verdict == Verdict::failed ? red : yellow;
}

std::string paint(Verdict verdict, const TextStyle& style) {
    return paint(std::string(verdict_name(verdict)), colour_of(verdict), style);
}

// --- one stage ---

/// Foreign text line by line as it is, only what a terminal could take for commands removed.
std::string quote(const std::string& text, int indent) {
    const auto printable = to_printable(text);
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    std::string quoted;
    std::size_t lines = 0;
    for (std::size_t at = 0; at < printable.size();) {
        const auto end = std::min(printable.find('\n', at), printable.size());
        if (++lines <= most_lines) quoted += margin + printable.substr(at, end - at) + "\n";
        at = end + 1;
    }
    if (lines > most_lines)
        quoted += fmt::format("{}... and {} (report.json has them)\n", margin,
                              format_plural(lines - most_lines, "more line"));
    return quoted;
}

std::string render_failure(const Failure& failure, int indent, const TextStyle& style) {
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    std::string text = wrap(failure.message, indent, style.width);
    if (failure.place) {
        const auto& place = *failure.place;
        text += margin +
                to_printable(fmt::format("{}[{}]: expected {}, got {}", place.buffer, format_count(place.index),
                                         place.expected, place.actual)) +
                "\n";
    }
    if (!failure.hint.empty()) text += wrap("Try: " + failure.hint, indent, style.width);
    return text + margin + "Cause: " + to_printable(failure.cause) + "\n";
}

bool ran(const Check& check) { return !check.skipped; }
bool did_not_pass(const Check& check) { return ran(check) && check.verdict != Verdict::passed; }

std::string dataset_name(const Check& check) { return to_printable(check.dataset) + (check.hidden ? " (hidden)" : ""); }

/// "failed: 2 of 8 datasets", "passed: 8 datasets, 1 skipped", "failed: does not compile" …
std::string summarise(const StageReport& stage) {
    if (stage.compilation.verdict == Verdict::failed) return "it does not compile";
    const auto count = [&](auto&& wanted) {
        return static_cast<std::uint64_t>(std::count_if(stage.checks.begin(), stage.checks.end(), wanted));
    };
    const auto all = count(ran), bad = count(did_not_pass), skipped = stage.checks.size() - all;
    std::string summary;
    if (all > 0)
        summary = bad > 0 ? fmt::format("{} of {}", bad, format_plural(all, "dataset")) : format_plural(all, "dataset");
    if (skipped > 0) summary += fmt::format("{}{} skipped", summary.empty() ? "" : ", ", skipped);
    return summary;
}

std::string render_compilation(const Compilation& compilation, const TextStyle& style) {
    std::string text;
    if (compilation.failure) text += render_failure(*compilation.failure, 2, style);
    if (!compilation.log.empty() && compilation.verdict != Verdict::passed)
        text += "  The compiler says:\n" + quote(compilation.log, 4);
    if (!compilation.nvcc.empty() && compilation.nvcc != "ok" && compilation.nvcc != "not found")
        text += "  nvcc, for a real GPU, says:\n" + quote(compilation.nvcc, 4);
    return text;
}

/// Names of datasets by what they have in common, such as their cause: "ragged, n_1 (tail_lost); large (crash)".
class Groups {
  public:
    void add(const std::string& name, const std::string& common) {
        for (auto& [known, names] : groups_)
            if (known == common) {
                names += ", " + name;
                return;
            }
        groups_.emplace_back(common, name);
    }
    std::string text() const {
        std::string all;
        for (const auto& [common, names] : groups_)
            all += (all.empty() ? "" : "; ") + names + (common.empty() ? "" : " (" + common + ")");
        return all;
    }

  private:
    std::vector<std::pair<std::string, std::string>> groups_;
};

std::string render_checks(const std::vector<Check>& checks, const TextStyle& style) {
    std::string text;
    bool first = true;
    Groups others, skipped;
    for (const auto& check : checks) {
        if (check.skipped) skipped.add(dataset_name(check), check.skipped_why);
        if (!did_not_pass(check)) continue;
        if (first) {
            text += fmt::format("  {}: {}\n", dataset_name(check), paint(check.verdict, style));
            if (check.failure) text += render_failure(*check.failure, 4, style);
        } else {
            others.add(dataset_name(check), check.failure ? check.failure->cause : "");
        }
        first = false;
    }
    if (!others.text().empty()) text += wrap("Not passed either: " + others.text(), 2, style.width);
    if (!skipped.text().empty()) text += wrap("Skipped: " + skipped.text(), 2, style.width);
    return text;
}

std::string times(double factor) { return format_number(factor) + "x"; }
std::string percent(double share) { return format_number(100 * share, share < 0.1 ? 2 : 3) + "%"; }

std::string compare_with_reference(const Measurement& measured) {
    if (!measured.reference_ratio) return "";
    const auto& ratio = *measured.reference_ratio;
    return fmt::format("{} the reference's time (95% interval {} to {}{})", times(ratio.median),
                       format_number(ratio.low, 4), format_number(ratio.high, 4),
                       measured.ambiguous ? ", ambiguous" : "");
}

std::string compare_with_bound(const Measurement& measured) {
    const auto share = bound_fraction(measured);
    return share > 0
               ? fmt::format("{} of what {} allow", percent(share), format_bandwidth(measured.bandwidth_bytes_per_s))
               : "";
}

std::string render_measurement(const Measurement& measured, const TextStyle& style) {
    std::string text = to_printable(fmt::format("  {}: {} s for {} iterations, the median of {}\n", measured.dataset,
                                                format_number(measured.median_s, 4), measured.iterations,
                                                format_plural(measured.samples_s.size(), "sample")));
    const auto add = [&](const std::string& line) {
        if (!line.empty()) text += wrap(line, 4, style.width);
    };
    if (speedup(measured.sequential_s, measured) > 0)
        add(fmt::format("{} as fast as one CPU core, {} as fast as {} with OpenMP",
                        times(speedup(measured.sequential_s, measured)), times(speedup(measured.openmp_s, measured)),
                        format_plural(static_cast<std::uint64_t>(measured.openmp_threads), "thread")));
    add(compare_with_reference(measured));
    add(compare_with_bound(measured));
    if (!measured.limit.empty()) add("Limited by: " + measured.limit);
    if (measured.transfer_s > 0)
        add(fmt::format("Copying inputs and outputs, not counted: {} s", format_number(measured.transfer_s, 4)));
    for (const auto& caveat : measured.caveats) add("Note: " + caveat);
    return text;
}

std::string render_part(const char* name, double points, double max, bool pending, const std::string& why) {
    if (max == 0) return "";
    const auto because = why.empty() ? "" : " (" + why + ")";
    if (pending) return fmt::format("; {} pending, up to {}{}", name, format_points(max), because);
    return fmt::format("; {} {} of {}{}", name, format_points(points), format_points(max), because);
}

std::string render_score(const Score& score, const TextStyle& style) {
    const auto text =
        fmt::format("Points: {} of {}: correctness {} of {}{}{}", format_points(score.total()),
                    format_points(score.max()), format_points(score.correctness), format_points(score.correctness_max),
                    render_part("hygiene", score.hygiene, score.hygiene_max, score.hygiene_pending, score.hygiene_why),
                    render_part("speed", score.speed, score.speed_max, score.speed_pending, score.speed_why));
    return wrap(text, 2, style.width);
}

std::string render_output(const std::string& output) {
    return output.empty() ? "  The program printed nothing.\n" : "  The program printed:\n" + quote(output, 4);
}

// --- the table ---

struct Cell {
    std::string text;
    const char* colour = nullptr;
};
using Row = std::vector<Cell>;

const std::vector<std::string> titles = {"stage",     "verdict",   "points", "pending", "seconds",
                                         "vs 1 core", "vs OpenMP", "vs ref", "bound"};
constexpr std::size_t left_columns = 2;

struct TableLine {
    Row cells;
    std::string remark;  // what limits it, or why it did not pass
};

std::string why_not_passed(const StageReport& stage) {
    if (stage.error) return stage.error->cause;
    if (stage.compilation.failure) return stage.compilation.failure->cause;
    for (const auto& check : stage.checks)
        if (did_not_pass(check)) return (check.failure ? check.failure->cause + " in " : "see ") + dataset_name(check);
    return "";
}

void add_timing(const Measurement& measured, TableLine& line) {
    const auto cell = [&](std::size_t column, double value, const std::string& text) {
        if (value > 0) line.cells[column].text = text;
    };
    const auto sequential = speedup(measured.sequential_s, measured), openmp = speedup(measured.openmp_s, measured);
    cell(4, measured.median_s, format_number(measured.median_s, 4));
    cell(5, sequential, times(sequential));
    cell(6, openmp, times(openmp));
    if (measured.reference_ratio)
        cell(7, measured.reference_ratio->median,
             times(measured.reference_ratio->median) + (measured.ambiguous ? "?" : ""));
    cell(8, bound_fraction(measured), percent(bound_fraction(measured)));
    if (line.remark.empty()) line.remark = measured.limit;
}

std::vector<TableLine> table_lines(const StageReport& stage) {
    TableLine line{Row(titles.size()), why_not_passed(stage)};
    line.cells[0].text = to_printable(stage.stage);
    line.cells[1] = {std::string(verdict_name(stage.verdict)), colour_of(stage.verdict)};
    if (stage.score) {
        const auto& score = *stage.score;
        const double pending =
            (score.hygiene_pending ? score.hygiene_max : 0) + (score.speed_pending ? score.speed_max : 0);
        line.cells[2].text = fmt::format("{}/{}", format_points(score.total()), format_points(score.max()));
        if (pending > 0) line.cells[3].text = format_points(pending);
    }
    if (stage.measurements.size() == 1) add_timing(stage.measurements.front(), line);
    std::vector<TableLine> lines = {line};
    if (stage.measurements.size() > 1)
        for (const auto& measured : stage.measurements) {
            lines.push_back({Row(titles.size()), ""});
            lines.back().cells[0].text = "  " + to_printable(measured.dataset);
            add_timing(measured, lines.back());
        }
    return lines;
}

/// Widths of the columns; 0 for one that is empty in every line.
std::vector<std::size_t> column_widths(const std::vector<std::vector<TableLine>>& labs) {
    std::vector<std::size_t> widths(titles.size(), 0);
    for (const auto& lines : labs)
        for (const auto& line : lines)
            for (std::size_t i = 0; i < widths.size(); ++i) {
                const auto width = display_width(line.cells[i].text);
                if (width > 0) widths[i] = std::max({widths[i], width, titles[i].size()});
            }
    return widths;
}

std::string render_row(const Row& cells, const std::vector<std::size_t>& widths, const TextStyle& style) {
    std::string row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (widths[i] == 0) continue;
        const std::string padding(widths[i] - display_width(cells[i].text), ' ');
        const auto text = cells[i].colour ? paint(cells[i].text, cells[i].colour, style) : cells[i].text;
        row += row.empty() ? "" : "  ";
        row += i < left_columns ? text + padding : padding + text;
    }
    return row;
}

std::string render_line(const TableLine& line, const std::vector<std::size_t>& widths, std::size_t table_width,
                        const TextStyle& style) {
    const auto row = render_row(line.cells, widths, style);
    const auto remark = to_printable(line.remark);
    if (remark.empty()) return row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
    if (table_width + 2 + display_width(remark) <= static_cast<std::size_t>(style.width))
        return row + "  " + remark + "\n";
    return row.substr(0, row.find_last_not_of(' ') + 1) + "\n" + wrap(remark, 4, style.width);
}

std::string render_total(const Report& report, const TextStyle& style) {
    const auto sum = total(report);
    if (sum.max == 0) return "";
    const auto pending = sum.pending > 0 ? fmt::format(", {} pending", format_points(sum.pending)) : "";
    const auto without =
        sum.without_score > 0 ? fmt::format("; {} without a score", format_plural(sum.without_score, "stage")) : "";
    return wrap(fmt::format("{}: {} of {} points{}{}", report.lab, format_points(sum.points), format_points(sum.max),
                            pending, without),
                0, style.width);
}

}  // namespace

std::string render_heading(const Report& report, const TextStyle& style) {
    const auto& device = report.backend == "cuda" ? report.machine.gpu : report.machine.cpu;
    const auto on = device.empty() ? "" : " (" + device + ")";
    const auto text = fmt::format("{}, files: {}, backend: {}{}, sandbox: {}", report.lab, report.tree, report.backend,
                                  on, report.sandbox);
    auto lines = wrap(text, 0, style.width);
    lines.pop_back();
    return paint(lines, bold, style) + "\n";
}

std::string render_stage(const StageReport& stage, const TextStyle& style, bool output) {
    const auto summary = summarise(stage);
    std::string text = fmt::format("{}: {}{}\n", paint(to_printable(stage.stage), bold, style),
                                   paint(stage.verdict, style), summary.empty() ? "" : " (" + summary + ")");
    text += render_compilation(stage.compilation, style);
    text += render_checks(stage.checks, style);
    if (stage.error) text += render_failure(*stage.error, 2, style);
    for (const auto& measured : stage.measurements) text += render_measurement(measured, style);
    for (const auto& note : stage.notes) text += wrap("Note: " + note, 2, style.width);
    if (output) text += render_output(stage.output);
    if (stage.verdict == Verdict::error) text += wrap("Not judged; this costs no points.", 2, style.width);
    if (stage.score) text += render_score(*stage.score, style);
    return text;
}

std::string render_report(const Report& report, const TextStyle& style, bool output) {
    std::string text = render_heading(report, style);
    for (const auto& stage : report.stages) text += "\n" + render_stage(stage, style, output);
    const auto sum = render_total(report, style);
    return sum.empty() ? text : text + "\n" + sum;
}

std::string render_table(std::span<const Report> reports, const TextStyle& style) {
    std::vector<std::vector<TableLine>> labs;
    for (const auto& report : reports) {
        labs.emplace_back();
        for (const auto& stage : report.stages)
            for (auto& line : table_lines(stage)) labs.back().push_back(std::move(line));
    }
    const auto widths = column_widths(labs);
    std::size_t table_width = 0;
    for (const auto width : widths) table_width += width > 0 ? width + (table_width > 0 ? 2 : 0) : 0;

    Row header;
    for (const auto& title : titles) header.push_back({title});
    std::string text;
    for (std::size_t i = 0; i < labs.size(); ++i) {
        text += (i > 0 ? "\n" : "") + render_heading(reports[i], style) + render_row(header, widths, style) + "\n";
        for (const auto& line : labs[i]) text += render_line(line, widths, table_width, style);
        text += render_total(reports[i], style);
    }
    const bool timed = widths[4] > 0;
    if (timed)
        text += wrap(
            "\nseconds: for 1000 iterations. vs 1 core, vs OpenMP: times as fast as the CPU. vs ref: of the "
            "reference's time. bound: share of what memory allows.",
            0, style.width);
    return text;
}

}  // namespace warplab
