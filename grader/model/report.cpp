#include "grader/model/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "grader/common/json_node.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

void require_schema_of_report(const JsonNode& document) {
    const auto schema = document.at("schema");
    if (schema.integer() != 1)
        schema.fail(
            fmt::format("the report has schema {}, this program reads schema 1; use a newer one", schema.integer()));
}

std::runtime_error invalid_report(const JsonError& error) {
    return std::runtime_error(fmt::format("this is not a valid report: at {}: {}",
                                          error.place.empty() ? "the top" : error.place, error.what()));
}

double speedup(double baseline_s, const Measurement& measured) {
    return baseline_s > 0 && measured.median_s > 0 ? baseline_s / measured.median_s : 0;
}

}  // namespace

double Measurement::speedup_sequential() const { return speedup(sequential_s, *this); }
double Measurement::speedup_openmp() const { return speedup(openmp_s, *this); }
double Measurement::bound_fraction() const { return speedup(bound_s, *this); }

double Score::total() const { return correctness + hygiene + speed; }
double Score::max() const { return correctness_max + hygiene_max + speed_max; }

double pending(const Score& score) {
    return (score.correctness_pending ? score.correctness_max : 0) + (score.hygiene_pending ? score.hygiene_max : 0) +
           (score.speed_pending ? score.speed_max : 0);
}

Total Report::total() const {
    Total sum;
    for (const auto& stage : stages) {
        if (!stage.score) {
            ++sum.without_score;
            continue;
        }
        sum.points += stage.score->total();
        sum.max += stage.score->max();
        sum.pending += pending(*stage.score);
    }
    return sum;
}

Verdict Report::verdict() const {
    const auto any = [&](Verdict verdict) {
        return std::ranges::any_of(stages, [=](const StageReport& stage) { return stage.verdict == verdict; });
    };
    if (any(Verdict::failed)) return Verdict::failed;
    return any(Verdict::error) || stages.empty() ? Verdict::error : Verdict::passed;
}

Verdict verdict_of(const std::vector<Check>& checks) {
    const auto any = [&](Verdict verdict) {
        return std::ranges::any_of(checks,
                                   [=](const Check& check) { return !check.skipped && check.verdict == verdict; });
    };
    if (any(Verdict::error)) return Verdict::error;
    return any(Verdict::failed) ? Verdict::failed : Verdict::passed;
}

bool refused_by_nvcc(const Compilation& compilation) { return compilation.nvcc.answer == NvccAnswer::Answer::refuses; }

bool needs_gpu(const Compilation& compilation) {
    return compilation.verdict == Verdict::failed && compilation.failure &&
           compilation.failure->cause == cause::refused_feature && !refused_by_nvcc(compilation);
}

bool outputs_failed(const StageReport& stage) {
    return stage.compilation.verdict == Verdict::failed || std::ranges::any_of(stage.checks, [](const Check& check) {
               return !check.skipped && check.verdict == Verdict::failed;
           });
}

const Finding* first_finding(const StageReport& stage) {
    if (!stage.check_mode) return nullptr;
    for (const auto& finding : stage.check_mode->findings)
        if (!finding.note) return &finding;
    return nullptr;
}

std::string message_of(const Finding& finding) {
    return finding.line > 0 ? fmt::format("Line {}: {}", finding.line, finding.message) : finding.message;
}

void from_text(const std::string& text, NvccAnswer& nvcc) {
    using enum NvccAnswer::Answer;
    constexpr std::string_view no_answer_because = "could not be asked: ";
    const std::map<std::string_view, NvccAnswer::Answer> alone = {
        {"", not_asked}, {"ok", compiles}, {"not found", not_found}};
    const auto iterator = alone.find(text);
    if (text.starts_with(no_answer_because))
        nvcc = {no_answer, text.substr(no_answer_because.size())};
    else
        nvcc = iterator != alone.end() ? NvccAnswer{iterator->second, ""} : NvccAnswer{refuses, text};
}

Report report_from_json(const Json& json) {
    try {
        const JsonNode document(json);
        require_schema_of_report(document);
        Report report;
        from_json(document, report);
        return report;
    } catch (const JsonError& error) {
        throw invalid_report(error);
    }
}

std::string format_report(const Report& report) { return to_json(report).dump(2); }

Report parse_report(std::string_view text) {
    try {
        return report_from_json(parse_json(text));
    } catch (const JsonError& error) {
        throw invalid_report(error);
    }
}

}  // namespace warplab
