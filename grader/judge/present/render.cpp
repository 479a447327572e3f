#include "grader/judge/present/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "grader/common/utf8.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

constexpr std::size_t max_findings_shown = 3;                       // the sanitizer's; `make inspect` shows all
constexpr std::size_t max_lines_quoted = 40, max_line_bytes = 400;  // of a compiler's log or a program's output

/// Shorten a very long line: some programs print a megabyte without a line break.
std::string shorten_line(const std::string& line) {
    if (line.size() <= max_line_bytes) return line;
    std::size_t end = max_line_bytes;
    while (end > 0 && (line[end] & 0xC0) == 0x80) --end;  // not in the middle of a character
    return fmt::format("{}... and {} more bytes", line.substr(0, end), line.size() - end);
}

std::string paint(Verdict verdict, const TextStyle& style) {
    return paint(std::string(verdict_name(verdict)), colour_of(verdict), style);
}

/// Quote the lines of an untrusted text, without characters that a terminal could interpret as commands.
std::string quote_lines(const std::string& text, int indent) {
    const auto printable = to_printable(text);
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    std::string quoted;
    std::size_t lines = 0;
    for (std::size_t at = 0; at < printable.size();) {
        const auto end = std::min(printable.find('\n', at), printable.size());
        if (++lines <= max_lines_quoted) quoted += margin + shorten_line(printable.substr(at, end - at)) + "\n";
        at = end + 1;
    }
    if (lines > max_lines_quoted)
        quoted += fmt::format("{}... and {} (the report has them)\n", margin,
                              format_plural(lines - max_lines_quoted, "more line"));
    return quoted;
}

std::string render_failure(const Failure& failure, int indent, const TextStyle& style) {
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    std::string text = wrap(failure.message, indent, style.width);
    if (failure.place) {
        const auto& place = *failure.place;
        const std::string element = fmt::format("{}[{}]", place.buffer, format_count(place.index));
        if (!failure.message.starts_with(element + " is "))
            text += margin +
                    to_printable(fmt::format("{}: expected {}, got {}", element, place.expected, place.actual)) + "\n";
    }
    if (!failure.hint.empty()) text += wrap("Hint: " + failure.hint, indent, style.width);
    return text + margin + "Cause: " + to_printable(failure.cause) + "\n";
}

bool ran(const Check& check) { return !check.skipped; }
bool did_not_pass(const Check& check) { return ran(check) && check.verdict != Verdict::passed; }

std::string dataset_name(const Check& check) { return to_printable(check.dataset) + (check.hidden ? " (hidden)" : ""); }

/// Return "8 datasets, 1 skipped", "6 of 8 datasets passed", "it does not compile"; empty if there is nothing to
/// report.
std::string summary_of(const StageReport& stage) {
    if (stage.compilation.verdict == Verdict::failed) {
        const auto& failure = stage.compilation.failure;
        if (failure && failure->cause == cause::missing_file) return "there is nothing to compile";
        return needs_gpu(stage.compilation) ? "the CPU backend cannot run it" : "it does not compile";
    }
    const auto count = [&](auto&& condition) {
        return static_cast<std::uint64_t>(std::ranges::count_if(stage.checks, condition));
    };
    const auto all = count(ran), bad = count(did_not_pass), skipped = stage.checks.size() - all;
    std::string summary;
    if (all > 0) summary = format_plural(all, "dataset");
    if (bad > 0) summary = fmt::format("{} of {} passed", all - bad, summary);
    if (bad == 0 && first_finding(stage)) summary += " passed, sanitizer failed";
    if (skipped > 0) summary += fmt::format("{}{} skipped", summary.empty() ? "" : ", ", skipped);
    return summary;
}

/// Render the compilation. Warnings are shown only for stages that did not pass, because they may be the reason.
std::string render_compilation(const Compilation& compilation, Verdict of_stage, const TextStyle& style) {
    std::string text;
    if (compilation.failure) text += render_failure(*compilation.failure, 2, style);
    if (!compilation.log.empty() && of_stage != Verdict::passed)
        text += "  Compiler output:\n" + quote_lines(compilation.log, 4);
    if (refused_by_nvcc(compilation))
        text += "  Output of nvcc, for a real GPU:\n" + quote_lines(compilation.nvcc.log, 4);
    return text;
}

/// Names of datasets, grouped by a property such as their cause: "ragged, n_1 (tail_lost); large (crash)".
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

std::string render_line(int number, const std::string& line) {
    return number > 0 && !line.empty() ? fmt::format("    {:>5} | {}\n", number, to_printable(shorten_line(line))) : "";
}

/// Render a finding and the lines that it names. `where`: the beginning of the sentence, before the line's number.
std::string render_finding(const Finding& finding, const std::string& where, const TextStyle& style) {
    const std::string place = finding.line > 0 ? fmt::format("line {}", finding.line) : "somewhere";
    return wrap(where + place + ": " + finding.message, 4, style.width) + render_quotes(finding);
}

/// Render the first findings in full if the outputs are correct.
std::string render_sanitizer(const StageReport& stage, const TextStyle& style) {
    if (outputs_failed(stage) || !first_finding(stage)) return "";
    std::string text = fmt::format("  sanitizer: {}\n", paint(Verdict::failed, style));
    std::uint64_t count = 0;
    for (const Finding& found : stage.check_mode->findings) {
        if (found.note || ++count > max_findings_shown) continue;
        text += render_finding(found, "In ", style);
        if (!found.hint.empty()) text += wrap("Hint: " + found.hint, 4, style.width);
        text += "    Cause: " + to_printable(found.cause) + "\n";
    }
    if (count > max_findings_shown)
        text += fmt::format("    ... and {}: make inspect shows all\n",
                            format_plural(count - max_findings_shown, "more finding"));
    return text;
}

/// Return the first finding; if there is none, a note that may explain the wrong output. A value that is kept from an
/// earlier call explains only an output that was not cleared.
const Finding* likely_reason(const StageReport& stage, const Check& failed) {
    const Finding* const found = first_finding(stage);
    if (found || !stage.check_mode) return found;
    const std::vector<Finding>& all = stage.check_mode->findings;
    const bool was_kept = failed.failure && failed.failure->cause == "not_cleared";
    const auto may_be = [&](const Finding& found) {
        return matters_if_wrong(found) && (was_kept || found.cause != cause::kept_value);
    };
    const auto note = std::ranges::find_if(all, may_be);
    return note == all.end() ? nullptr : &*note;
}

/// Return the finding whose message the failure has; null if there is none.
const Finding* finding_of(const Failure& failure, const StageReport& stage) {
    if (!stage.check_mode) return nullptr;
    const std::vector<Finding>& all = stage.check_mode->findings;
    const auto has_message = [&](const Finding& found) { return failure.message == message_of(found); };
    const auto iterator = std::ranges::find_if(all, has_message);
    return iterator == all.end() ? nullptr : &*iterator;
}

/// Render the line that may be the reason for a wrong output, without its message if the failure has the same one.
std::string render_likely_reason(const StageReport& stage, const Check& failed, const TextStyle& style) {
    const Finding* const proven = failed.failure ? finding_of(*failed.failure, stage) : nullptr;
    if (proven) return render_quotes(*proven);
    const Finding* reason = likely_reason(stage, failed);
    return reason ? render_finding(*reason, "Sanitizer, ", style) : "";
}

/// Return the cause to show for a dataset that failed after another one. If the sanitizer has proven the first failure,
/// a different cause is only guessed, and the proven error may be the reason for it.
std::string other_cause(const Check& other, const Check& first, const StageReport& stage) {
    if (!other.failure) return "";
    const bool is_proven = first.failure && finding_of(*first.failure, stage);
    return is_proven && other.failure->cause != first.failure->cause ? "" : other.failure->cause;
}

std::string render_checks(const StageReport& stage, const TextStyle& style) {
    std::string text;
    const auto explains = [](const Check& check) { return did_not_pass(check) && check.blocked_by.empty(); };
    const auto first = std::ranges::find_if(stage.checks, explains);
    Groups others, not_run, skipped;
    for (const auto& check : stage.checks) {
        if (check.skipped) skipped.add(dataset_name(check), check.skipped_why);
        if (!did_not_pass(check)) continue;
        if (first != stage.checks.end() && &check == &*first) {
            text += fmt::format("  {}: {}\n", dataset_name(check), paint(check.verdict, style));
            if (check.failure) text += render_failure(*check.failure, 4, style);
            text += render_likely_reason(stage, check, style);
        } else if (!check.blocked_by.empty()) {
            not_run.add(dataset_name(check), "");
        } else {
            others.add(dataset_name(check), other_cause(check, *first, stage));
        }
    }
    if (!others.text().empty()) text += wrap("Also did not pass: " + others.text(), 2, style.width);
    if (!not_run.text().empty()) text += wrap("Not run after that: " + not_run.text(), 2, style.width);
    if (!skipped.text().empty()) text += wrap("Skipped: " + skipped.text(), 2, style.width);
    return text;
}

std::string compare_with_reference(const Measurement& measured) {
    if (!measured.reference_ratio) return "";
    const auto& ratio = *measured.reference_ratio;
    const bool for_points = measured.ended_by == Measurement::EndedBy::points_known;
    const std::string previous = measured.previous_ratio ? fmt::format("; the previous stage's solution takes {}",
                                                                       format_factor(*measured.previous_ratio))
                                                         : "";
    return fmt::format("{} the reference's time (between {} and {}{}){}", format_factor(ratio.median),
                       format_number(ratio.low, for_points ? 3 : 4), format_number(ratio.high, for_points ? 3 : 4),
                       for_points           ? ", enough for the points"
                       : measured.ambiguous ? ", ambiguous"
                                            : "",
                       previous);
}

std::string compare_with_bound(const Measurement& measured) {
    const auto share = measured.bound_fraction();
    return share > 0 ? fmt::format("{} of the bound at {}", format_share(share),
                                   format_bandwidth(measured.bandwidth_bytes_per_s))
                     : "";
}

std::string render_measurement(const Measurement& measured, const TextStyle& style) {
    std::string text = to_printable(fmt::format("  {}: {} s for {} iterations, the median of {}\n", measured.dataset,
                                                format_number(measured.median_s, 4), measured.iterations,
                                                format_plural(measured.samples_s.size(), "sample")));
    const auto add = [&](const std::string& line) {
        if (!line.empty()) text += wrap(line, 4, style.width);
    };
    if (measured.speedup_sequential() > 0)
        add(fmt::format("{} as fast as one CPU core, {} as fast as {} with OpenMP",
                        format_factor(measured.speedup_sequential()), format_factor(measured.speedup_openmp()),
                        format_plural(static_cast<std::uint64_t>(measured.openmp_threads), "thread")));
    add(compare_with_reference(measured));
    add(compare_with_bound(measured));
    if (!measured.limit.empty()) add("Limited by: " + measured.limit);
    if (measured.transfer_s > 0)
        add(fmt::format("Copying inputs and outputs, not counted: {} s", format_number(measured.transfer_s, 4)));
    for (const auto& caveat : measured.caveats) add("Note: " + caveat);
    return text;
}

struct PartOfScore {
    const char* name;
    double points, max;
    bool pending;
    std::string reason;
    bool modelled = false;
};

std::string render_part(const PartOfScore& part) {
    if (part.pending) return fmt::format("{} pending", part.name);
    return fmt::format("{} {} of {}{}", part.name, format_points(part.points), format_points(part.max),
                       part.modelled ? ", modelled" : "");
}

std::string render_score(const Score& score, const TextStyle& style) {
    const PartOfScore parts[] = {
        {"correctness", score.correctness, score.correctness_max, score.correctness_pending, score.correctness_why},
        {"hygiene", score.hygiene, score.hygiene_max, score.hygiene_pending, score.hygiene_why},
        {"speed", score.speed, score.speed_max, score.speed_pending, score.speed_why, score.speed_modelled},
    };
    std::vector<std::string> worth;
    std::string reasons;
    for (const auto& part : parts) {
        if (part.max == 0) continue;
        worth.push_back(render_part(part));
        if (part.reason.empty()) continue;
        const auto up_to = part.pending ? fmt::format(", up to {} more", format_points(part.max)) : "";
        reasons += wrap(fmt::format("{}{}: {}", part.name, up_to, part.reason), 4, style.width);
    }
    return wrap(fmt::format("Points: {} of {} ({})", format_points(score.total()), format_points(score.max()),
                            fmt::join(worth, ", ")),
                2, style.width) +
           reasons;
}

std::string render_output(const std::string& output) {
    return output.empty() ? "  The program printed nothing.\n" : "  The program printed:\n" + quote_lines(output, 4);
}

}  // namespace

std::string render_quotes(const Finding& finding) {
    const bool has_two_lines = finding.other_line != finding.line;
    return render_line(finding.line, finding.text) +
           (has_two_lines ? render_line(finding.other_line, finding.other_text) : "");
}

Colour colour_of(Verdict verdict) {
    if (verdict == Verdict::passed) return Colour::green;
    return verdict == Verdict::failed ? Colour::red : Colour::yellow;
}

std::string render_heading(const Report& report, const TextStyle& style) {
    const auto& device = report.backend == "cuda" ? report.machine.gpu : report.machine.cpu;
    const auto on = device.empty() ? "" : " (" + device + ")";
    const auto text = fmt::format("{}, files: {}, backend: {}{}, sandbox: {}", report.lab, report.tree, report.backend,
                                  on, report.sandbox);
    auto lines = wrap(text, 0, style.width);
    lines.pop_back();
    return paint(lines, Colour::bold, style) + "\n";
}

std::string render_sandbox_remark(const Report& report, const TextStyle& style) {
    return report.sandbox_remark.empty() ? "" : wrap("Sandbox: " + report.sandbox_remark, 0, style.width);
}

std::string render_stage(const StageReport& stage, const TextStyle& style, StudentsOutput output) {
    const auto summary = summary_of(stage);
    std::string text = fmt::format("{}: {}{}\n", paint(to_printable(stage.stage), Colour::bold, style),
                                   paint(stage.verdict, style), summary.empty() ? "" : " (" + summary + ")");
    text += render_compilation(stage.compilation, stage.verdict, style);
    text += render_sanitizer(stage, style);
    text += render_checks(stage, style);
    if (stage.error) text += render_failure(*stage.error, 2, style);
    for (const auto& measured : stage.measurements) text += render_measurement(measured, style);
    for (const auto& note : stage.notes) text += wrap("Note: " + note, 2, style.width);
    if (output == StudentsOutput::shown) text += render_output(stage.output);
    if (stage.verdict == Verdict::error) text += wrap("Not judged; this costs no points.", 2, style.width);
    if (stage.score) text += render_score(*stage.score, style);
    return text;
}

std::string render_total(const Report& report, const TextStyle& style) {
    const auto sum = report.total();
    if (sum.max == 0) return "";
    const auto pending = sum.pending > 0 ? fmt::format(", {} pending", format_points(sum.pending)) : "";
    const auto without =
        sum.without_score > 0 ? fmt::format("; {} without a score", format_plural(sum.without_score, "stage")) : "";
    return wrap(fmt::format("{}: {} of {} points{}{}", report.lab, format_points(sum.points), format_points(sum.max),
                            pending, without),
                0, style.width);
}

}  // namespace warplab
