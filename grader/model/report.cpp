#include "grader/model/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "grader/common/json_node.h"
#include "grader/common/utf8.h"
#include "grader/model/cause.h"

namespace warplab {

// Every type has one list of its fields, for writing and for reading. The templates below find the lists by type, so
// the lists cannot be in an unnamed namespace.
template <class Visitor, class T>
using Visited = std::conditional_t<Visitor::reads, T, const T>;

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, Place>& place) {
    visit("buffer", place.buffer);
    visit("index", place.index);
    visit("expected", place.expected);
    visit("actual", place.actual);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, Interval>& interval) {
    visit.required("median", interval.median);
    visit.required("low", interval.low);
    visit.required("high", interval.high);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, Failure>& failure) {
    visit.required("cause", failure.cause);
    visit.required("message", failure.message);
    visit("hint", failure.hint);
    visit("place", failure.place);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, Check>& check) {
    visit.required("dataset", check.dataset);
    visit("hidden", check.hidden);
    visit.points("points", check.points);
    visit.required("verdict", check.verdict);
    visit("skipped", check.skipped);
    visit("skipped_why", check.skipped_why);
    visit("failure", check.failure);
    visit("wall_s", check.wall_s);
    visit("empty", check.empty);
    visit("blocked_by", check.blocked_by);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, SampleConditions>& conditions) {
    visit("sm_clock_mhz", conditions.sm_clock_mhz);
    visit("temperature_c", conditions.temperature_c);
    visit("throttle", conditions.throttle);
    visit("copy_bytes_per_s", conditions.copy_bytes_per_s);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, Measurement>& measured) {
    visit.required("dataset", measured.dataset);
    visit("iterations", measured.iterations);
    visit("calls_per_sample", measured.calls_per_sample);
    visit("cut", measured.cut);
    visit("samples_s", measured.samples_s);
    visit("reference_samples_s", measured.reference_samples_s);
    visit("samples_of_rounds", measured.samples_of_rounds);
    visit("conditions", measured.conditions);
    visit.required("median_s", measured.median_s);
    visit("reference_s", measured.reference_s);
    visit("reference_ratio", measured.reference_ratio);
    visit("ambiguous", measured.ambiguous);
    visit("scored", measured.scored);
    visit("sequential_s", measured.sequential_s);
    visit("openmp_s", measured.openmp_s);
    visit("openmp_threads", measured.openmp_threads);
    visit.derived("speedup_sequential", speedup(measured.sequential_s, measured));
    visit.derived("speedup_openmp", speedup(measured.openmp_s, measured));
    visit("transfer_s", measured.transfer_s);
    visit("floor_s", measured.floor_s);
    visit("bound_s", measured.bound_s);
    visit.derived("bound_fraction", bound_fraction(measured));
    visit("floor_bytes", measured.floor_bytes);
    visit("bound_bytes", measured.bound_bytes);
    visit("flops", measured.flops);
    visit("bandwidth_bytes_per_s", measured.bandwidth_bytes_per_s);
    visit("limit", measured.limit);
    visit("caveats", measured.caveats);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, Score>& score) {
    visit.required_points("correctness", score.correctness);
    visit.required_points("correctness_max", score.correctness_max);
    visit("correctness_pending", score.correctness_pending);
    visit("correctness_why", score.correctness_why);
    visit.points("hygiene", score.hygiene);
    visit.points("hygiene_max", score.hygiene_max);
    visit("hygiene_pending", score.hygiene_pending);
    visit("hygiene_why", score.hygiene_why);
    visit.points("speed", score.speed);
    visit.points("speed_max", score.speed_max);
    visit("speed_pending", score.speed_pending);
    visit("speed_why", score.speed_why);
    visit.derived("total", score.total());
    visit.derived("max", score.max());
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, NvccAnswer>& nvcc) {
    visit.required("answer", nvcc.kind);
    visit("log", nvcc.log);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, Compilation>& compilation) {
    visit.required("verdict", compilation.verdict);
    visit("failure", compilation.failure);
    visit("log", compilation.log);
    visit("wall_s", compilation.wall_s);
    visit("cached", compilation.cached);
    visit("nvcc", compilation.nvcc);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, Discovery>& found) {
    visit.required("cause", found.cause);
    visit("note", found.is_note);
    visit("kernel", found.kernel);
    visit("line", found.line);
    visit("text", found.text);
    visit("other_line", found.other_line);
    visit("other_text", found.other_text);
    visit("count", found.count);
    visit.required("message", found.message);
    visit("hint", found.hint);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, CheckMode>& check_mode) {
    visit.required("verdict", check_mode.verdict);
    visit("remark", check_mode.remark);
    visit("datasets", check_mode.datasets);
    visit("wall_s", check_mode.wall_s);
    visit("findings", check_mode.findings);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, StageReport>& stage) {
    visit.required("stage", stage.stage);
    visit("title", stage.title);
    visit("source", stage.source);
    visit("source_hash", stage.source_hash);
    visit.required("verdict", stage.verdict);
    visit("compilation", stage.compilation);
    visit("checks", stage.checks);
    visit("check_mode", stage.check_mode);
    visit("measurements", stage.measurements);
    visit("error", stage.error);
    visit("score", stage.score);
    visit("output", stage.output);
    visit("notes", stage.notes);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, Machine>& machine) {
    visit("host", machine.host);
    visit("os", machine.os);
    visit("cpu", machine.cpu);
    visit("cpu_cores", machine.cpu_cores);
    visit("gpu", machine.gpu);
    visit("driver", machine.driver);
    visit("cuda", machine.cuda);
    visit("compiler", machine.compiler);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, Total>& sum) {
    visit.points("points", sum.points);
    visit.points("max", sum.max);
    visit.points("pending", sum.pending);
    visit("without_score", sum.without_score);
}

template <class Visitor>
static void fields(Visitor& visit, Visited<Visitor, Report>& report) {
    visit.required("schema", report.schema);
    visit.required("verb", report.verb);
    visit.required("lab", report.lab);
    visit.required("backend", report.backend);
    visit("sandbox", report.sandbox);
    visit("sandbox_remark", report.sandbox_remark);
    visit("tree", report.tree);
    visit("time", report.time);
    visit("warplab", report.warplab);
    visit("machine", report.machine);
    visit.derived("verdict", overall(report));
    visit.derived("total", total(report));
    visit.required("stages", report.stages);
}

namespace {

constexpr std::array nvcc_answers{"not_asked", "compiles", "refuses", "not_found", "no_answer"};  // by Kind

// --- writing ---

Json json_of(const std::string& text) { return to_valid_utf8(text); }

/// JSON has no NaN and no infinity, so they are strings.
Json json_of(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

Json json_of(int value) { return value; }
Json json_of(Verdict verdict) { return verdict_name(verdict); }
Json json_of(CheckMode::Verdict verdict) { return verdict_name(verdict); }
Json json_of(NvccAnswer::Kind kind) { return nvcc_answers[static_cast<std::size_t>(kind)]; }
Json json_of(bool value) { return value; }
Json json_of(std::uint64_t value) { return value; }

template <class T>
Json json_of(const T& object);

template <class T>
Json json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : Json();
}

template <class T>
Json json_of(const std::vector<T>& values) {
    auto list = Json::array();
    for (const auto& value : values) list.push_back(json_of(value));
    return list;
}

struct Writer {
    static constexpr bool reads = false;
    Json json = Json::object();
    template <class T>
    void operator()(const char* key, const T& field) {
        json[key] = json_of(field);
    }
    template <class T>
    void required(const char* key, const T& field) {
        json[key] = json_of(field);
    }
    void points(const char* key, double field) { json[key] = json_of(field); }
    void required_points(const char* key, double field) { json[key] = json_of(field); }
    template <class T>
    void derived(const char* key, const T& value) {
        json[key] = json_of(value);
    }
};

template <class T>
Json json_of(const T& object) {
    Writer writer;
    fields(writer, object);
    return std::move(writer.json);
}

// --- reading ---

// Programs that read a report may loop or print as often as a number in it states.
constexpr double most_number = 1e20, most_points = 10'000;
constexpr std::size_t most_characters = 1'000'000;  // bytes of a text; a compiler's log is the longest
/// The maximum number of items of a list. The largest lab has 12 stages and 32 datasets.
template <class T>
constexpr std::size_t most_items = 10'000;
template <>
constexpr std::size_t most_items<StageReport> = 120;
template <>
constexpr std::size_t most_items<Check> = 400;

void require_at_most(const JsonNode& node, std::size_t found, std::size_t most, const char* units) {
    if (found > most)
        node.fail(
            fmt::format("{} {} exceed the limit of {}; no program of the kit writes that much", found, units, most));
}

void require_between(const JsonNode& node, double value, double least, double most) {
    if (value < least || value > most) node.fail(fmt::format("{} is not between {} and {}", value, least, most));
}

/// Read text and make it harmless, so that code that prints it cannot change a terminal.
void read_value(const JsonNode& node, std::string& field) {
    const auto text = node.text();
    require_at_most(node, text.size(), most_characters, "bytes of text");
    field = to_harmless(text);
}
void read_value(const JsonNode& node, bool& field) { field = node.boolean(); }

void read_value(const JsonNode& node, std::uint64_t& field) { field = node.natural(); }

void read_value(const JsonNode& node, int& field) {
    const auto value = node.integer();
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
        node.fail(fmt::format("{} is too large", value));
    field = static_cast<int>(value);
}

void read_value(const JsonNode& node, double& field) {
    if (!node.value().is_string()) {
        field = node.number();
        require_between(node, field, -most_number, most_number);
        return;
    }
    const auto word = node.text();
    if (word == "nan")
        field = std::numeric_limits<double>::quiet_NaN();
    else if (word == "inf")
        field = std::numeric_limits<double>::infinity();
    else if (word == "-inf")
        field = -std::numeric_limits<double>::infinity();
    else
        node.fail(fmt::format("expected a number, \"nan\", \"inf\" or \"-inf\", found \"{}\"", word));
}

void read_points(const JsonNode& node, double& field) {
    field = node.number();
    require_between(node, field, 0, most_points);
}

void read_value(const JsonNode& node, Verdict& field) {
    const auto word = node.text();
    for (const auto verdict : {Verdict::passed, Verdict::failed, Verdict::error})
        if (word == verdict_name(verdict)) {
            field = verdict;
            return;
        }
    node.fail(fmt::format("\"{}\" is no verdict; expected passed, failed or error", word));
}

void read_value(const JsonNode& node, CheckMode::Verdict& field) {
    using enum CheckMode::Verdict;
    const auto word = node.text();
    for (const auto verdict : {passed, failed, error, unconfirmed})
        if (word == verdict_name(verdict)) {
            field = verdict;
            return;
        }
    node.fail(fmt::format("\"{}\" is not a verdict; expected passed, failed, error or unconfirmed", word));
}

void read_value(const JsonNode& node, NvccAnswer::Kind& field) {
    const auto word = node.text();
    const auto found = std::find(nvcc_answers.begin(), nvcc_answers.end(), word);
    if (found == nvcc_answers.end())
        node.fail(fmt::format("\"{}\" is not an answer; expected {}", word, fmt::join(nvcc_answers, ", ")));
    field = static_cast<NvccAnswer::Kind>(found - nvcc_answers.begin());
}

template <class T>
void read_value(const JsonNode& node, T& object);

template <class T>
void read_value(const JsonNode& node, std::optional<T>& field) {
    read_value(node, field.emplace());
}

template <class T>
void read_value(const JsonNode& node, std::vector<T>& field) {
    field.clear();
    const auto items = node.items();
    require_at_most(node, items.size(), most_items<T>, "items");
    for (const auto& item : items) read_value(item, field.emplace_back());
}

/// Reads fields. A missing or null key leaves its field unchanged, and derived values are skipped.
struct Reader {
    static constexpr bool reads = true;
    const JsonNode& node;
    template <class T>
    void operator()(const char* key, T& field) const {
        if (const auto found = node.find(key)) read_value(*found, field);
    }
    template <class T>
    void required(const char* key, T& field) const {
        read_value(node.at(key), field);
    }
    void points(const char* key, double& field) const {
        if (const auto found = node.find(key)) read_points(*found, field);
    }
    void required_points(const char* key, double& field) const { read_points(node.at(key), field); }
    template <class T>
    void derived(const char*, const T&) const {}
};

template <class T>
void read_value(const JsonNode& node, T& object) {
    node.require_object();
    Reader reader{node};
    fields(reader, object);
}

/// Read nvcc's answer from a report before version 1.0, which has a single text.
NvccAnswer read_old_nvcc(const std::string& text) {
    using enum NvccAnswer::Kind;
    constexpr std::string_view no_answer_because = "could not be asked: ";
    if (text.starts_with(no_answer_because)) return {no_answer, text.substr(no_answer_because.size())};
    const std::map<std::string_view, NvccAnswer::Kind> alone = {
        {"", not_asked}, {"ok", compiles}, {"not found", not_found}};
    const auto found = alone.find(text);
    return found != alone.end() ? NvccAnswer{found->second, ""} : NvccAnswer{refuses, text};
}

template <>
void read_value(const JsonNode& node, Compilation& compilation) {
    Reader reader{node};
    const auto nvcc = node.find("nvcc");
    if (!nvcc || !nvcc->value().is_string()) return fields(reader, compilation);
    std::string text;
    read_value(*nvcc, text);
    Json converted = node.value();
    converted["nvcc"] = json_of(read_old_nvcc(text));
    const JsonNode document(converted, node.place());
    read_value<Compilation>(document, compilation);
}

void require_schema_1(const JsonNode& document) {
    const auto schema = document.at("schema");
    if (schema.integer() != 1)
        schema.fail(
            fmt::format("the report has schema {}, this program reads schema 1; use a newer one", schema.integer()));
}

std::runtime_error no_report(const JsonError& error) {
    return std::runtime_error(
        fmt::format("this is no report: at {}: {}", error.place.empty() ? "the top" : error.place, error.what()));
}

}  // namespace

double speedup(double baseline_s, const Measurement& measured) {
    return baseline_s > 0 && measured.median_s > 0 ? baseline_s / measured.median_s : 0;
}

double bound_fraction(const Measurement& measured) {
    return measured.median_s > 0 ? measured.bound_s / measured.median_s : 0;
}

Json Machine::to_json() const { return json_of(*this); }

Json to_json(const Report& report) { return json_of(report); }

Report report_from_json(const Json& json) {
    try {
        const JsonNode document(json);
        require_schema_1(document);
        Report report;
        read_value(document, report);
        return report;
    } catch (const JsonError& error) {
        throw no_report(error);
    }
}

std::string_view verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::passed:
            return "passed";
        case Verdict::failed:
            return "failed";
        case Verdict::error:
            return "error";
    }
    throw std::logic_error("unknown verdict");
}

std::string_view verdict_name(CheckMode::Verdict verdict) {
    switch (verdict) {
        case CheckMode::Verdict::passed:
            return "passed";
        case CheckMode::Verdict::failed:
            return "failed";
        case CheckMode::Verdict::error:
            return "error";
        case CheckMode::Verdict::unconfirmed:
            return "unconfirmed";
    }
    throw std::logic_error("unknown verdict");
}

Verdict verdict_of(const std::vector<Check>& checks) {
    const auto any = [&](Verdict verdict) {
        return std::any_of(checks.begin(), checks.end(),
                           [=](const Check& check) { return !check.skipped && check.verdict == verdict; });
    };
    if (any(Verdict::error)) return Verdict::error;
    return any(Verdict::failed) ? Verdict::failed : Verdict::passed;
}

Verdict overall(const Report& report) {
    const auto any = [&](Verdict verdict) {
        return std::any_of(report.stages.begin(), report.stages.end(),
                           [=](const StageReport& stage) { return stage.verdict == verdict; });
    };
    if (any(Verdict::failed)) return Verdict::failed;
    return any(Verdict::error) || report.stages.empty() ? Verdict::error : Verdict::passed;
}

double Score::pending() const {
    return (correctness_pending ? correctness_max : 0) + (hygiene_pending ? hygiene_max : 0) +
           (speed_pending ? speed_max : 0);
}

bool refused_by_nvcc(const Compilation& compilation) { return compilation.nvcc.kind == NvccAnswer::Kind::refuses; }

bool needs_gpu(const Compilation& compilation) {
    return compilation.verdict == Verdict::failed && compilation.failure &&
           compilation.failure->cause == cause::refused_feature && !refused_by_nvcc(compilation);
}

bool outputs_failed(const StageReport& stage) {
    return stage.compilation.verdict == Verdict::failed ||
           std::any_of(stage.checks.begin(), stage.checks.end(),
                       [](const Check& check) { return !check.skipped && check.verdict == Verdict::failed; });
}

const Discovery* first_finding(const StageReport& stage) {
    if (!stage.check_mode) return nullptr;
    for (const auto& found : stage.check_mode->findings)
        if (!found.is_note) return &found;
    return nullptr;
}

Total total(const Report& report) {
    Total sum;
    for (const auto& stage : report.stages) {
        if (!stage.score) {
            ++sum.without_score;
            continue;
        }
        const auto& score = *stage.score;
        sum.points += score.total();
        sum.max += score.max();
        sum.pending += score.pending();
    }
    return sum;
}

std::string format_report(const Report& report) { return to_json(report).dump(2); }

Report parse_report(std::string_view text) {
    try {
        return report_from_json(parse_json(text));
    } catch (const JsonError& error) {
        throw no_report(error);
    }
}

}  // namespace warplab
