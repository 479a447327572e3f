// Check mode on a stage: every public dataset that is small enough, with every access watched. Needs no GPU.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "grader/core/hash.h"
#include "grader/core/json.h"
#include "grader/core/text.h"
#include "grader/core/utf8.h"
#include "grader/judge/check_mode.h"
#include "grader/judge/compilation/diagnostics.h"
#include "grader/judge/counters.h"
#include "grader/judge/findings.h"
#include "grader/judge/judge.h"
#include "grader/judge/records.h"
#include "grader/judge/verbs.h"
#include "grader/judge/work.h"

namespace warplab {
namespace {

constexpr std::size_t most_printed = 12;  // discoveries
constexpr std::size_t most_lines = 32, most_shapes_printed = 6;

/// The student's file, for quoting.
struct Source {
    std::string name, text;

    explicit Source(const std::filesystem::path& file) : name(file.filename().string()) {
        std::ifstream stream(file);
        text.assign(std::istreambuf_iterator<char>(stream), {});
    }
    std::string line(int number, std::size_t most) const {
        const std::string whole = compilation::source_line(text, number);
        const std::size_t first = whole.find_first_not_of(" \t");
        return first == std::string::npos ? "" : to_printable(whole.substr(first, most));
    }
    std::string whole_line(int number, std::size_t most) const {
        std::string whole = compilation::source_line(text, number);
        for (std::size_t tab; (tab = whole.find('\t')) != std::string::npos;) whole.replace(tab, 1, "    ");
        return whole.size() <= most ? to_printable(whole) : to_printable(whole.substr(0, most - 1)) + "…";
    }
    int line_count() const { return static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1; }
    std::vector<std::string> lines() const {
        std::vector<std::string> all;
        std::istringstream stream(text);
        for (std::string line; std::getline(stream, line);) all.push_back(line);
        return all;
    }
};

/// All that check mode says of a file.
struct Inspection {
    std::string lab, stage;
    Source source;
    const Gpu& gpu;
    std::vector<Counted> datasets = {};
    Counted all = {};
    std::vector<Discovery> findings = {};
    std::vector<LineCounts> counts = {};
    std::vector<KernelShape> kernels = {};
    std::vector<LineSummary> lines = {};
    std::vector<LimitOutcome> limits = {};
    bool passed = false;
};

void print_discovery(const Discovery& d, const Source& source) {
    const TextStyle style = text_style(STDOUT_FILENO);
    fmt::print("{}:{}: {}\n", source.name, d.line,
               paint(d.is_note ? "note" : d.cause, d.is_note ? Colour::yellow : Colour::red, style));
    fmt::print("{}", wrap(d.message, 4, style.width));
    if (const auto text = source.line(d.line, 100); !text.empty()) fmt::print("    {:>5} | {}\n", d.line, text);
    if (d.other_line > 0 && d.other_line != d.line)
        fmt::print("    {:>5} | {}\n", d.other_line, source.line(d.other_line, 100));
    if (!d.hint.empty()) fmt::print("{}", wrap("Hint: " + d.hint, 4, style.width));
    if (d.count > 1) fmt::print("    {} times in all\n", format_count(d.count));
}

void print_findings(const Inspection& found) {
    for (std::size_t i = 0; i < found.findings.size() && i < most_printed; ++i)
        print_discovery(found.findings[i], found.source);
    if (found.findings.size() > most_printed) fmt::print("... and {} more\n", found.findings.size() - most_printed);
}

/// What check mode cannot explain is said too, or silence would look like praise. Whether all datasets passed.
bool print_verdicts(const std::vector<Check>& checks, bool clean) {
    const auto failed = [](const Check& check) { return !check.skipped && check.verdict != Verdict::passed; };
    const auto first = std::find_if(checks.begin(), checks.end(), failed);
    if (clean) fmt::print("No race, no access out of bounds, nothing read before it was written.\n");
    if (first == checks.end()) return true;
    const auto count = std::count_if(checks.begin(), checks.end(), failed);
    const std::string what = first->failure ? first->failure->message : "our side broke";
    fmt::print("{}",
               wrap(fmt::format("It fails on {}, first on {}: {} `make check` says more.",
                                format_plural(static_cast<std::uint64_t>(count), "dataset"), first->dataset, what),
                    0, text_style(STDOUT_FILENO).width));
    return false;
}

/// Right-aligned; red when it costs.
std::string cell(const std::string& text, int width, bool costly, const TextStyle& style) {
    const std::string padded = fmt::format("{:>{}}", text, width);
    return costly ? paint(padded, Colour::red, style) : padded;
}

/// "812", "34k", "1.2M".
std::string short_count(std::uint64_t count) {
    const auto value = static_cast<double>(count);
    if (count < 10'000) return std::to_string(count);
    return count < 1'000'000 ? fmt::format("{:.0f}k", value / 1e3) : fmt::format("{:.1f}M", value / 1e6);
}

std::string one_decimal(const std::optional<double>& value) { return value ? fmt::format("{:.1f}", *value) : ""; }

std::string margin_words(const LineSummary& m, const TextStyle& style) {
    std::string words = cell(short_count(m.requests), 8, false, style);
    words += cell(fmt::format("{:.1f}", m.lanes), 6, m.few_lanes(), style);
    words +=
        cell(m.sectors ? fmt::format("{:.1f}/{:.1f}", *m.sectors, *m.fewest_sectors) : "", 10, m.many_sectors(), style);
    words += cell(one_decimal(m.passes), 7, m.many_passes(), style);
    return words + cell(one_decimal(m.clashes), 8, m.many_clashes(), style);
}

/// The lines to show: those that cost most, each with the lines around it, as many as fit a screen.
std::set<int> choose_lines(std::vector<LineSummary> lines, int last_line) {
    std::stable_sort(lines.begin(), lines.end(),
                     [](const LineSummary& a, const LineSummary& b) { return a.heat > b.heat; });
    std::set<int> chosen;
    for (const LineSummary& one : lines) {
        std::set<int> with = chosen;
        for (int near = std::max(1, one.line - 1); near <= std::min(one.line + 1, last_line); ++near) with.insert(near);
        if (with.size() <= most_lines) chosen = std::move(with);
    }
    return chosen;
}

void print_source(const std::vector<LineSummary>& lines, const Source& source) {
    if (lines.empty()) return;
    const TextStyle style = text_style(STDOUT_FILENO);
    fmt::print("\n{:>8}{:>6}{:>10}{:>7}{:>8} line\n", "requests", "lanes", "sectors", "passes", "clashes");
    const std::set<int> chosen = choose_lines(lines, source.line_count());
    int before = 0;
    for (const int line : chosen) {
        if (before && line != before + 1) fmt::print("{:>44}\n", "...");
        before = line;
        const auto margin =
            std::find_if(lines.begin(), lines.end(), [&](const LineSummary& one) { return one.line == line; });
        const std::string words = margin == lines.end() ? std::string(39, ' ') : margin_words(*margin, style);
        const auto room = static_cast<std::size_t>(std::max(20, style.width - 47));
        fmt::print("{}{:>5} | {}\n", words, line, source.whole_line(line, room));
    }
    const auto left_out =
        std::count_if(lines.begin(), lines.end(), [&](const LineSummary& one) { return !chosen.contains(one.line); });
    if (left_out > 0)
        fmt::print("{} that cost less are not shown.\n", format_plural(static_cast<std::uint64_t>(left_out), "line"));
    fmt::print("{}", wrap("A request is what a warp accesses together. lanes: of its 32, how many take part. sectors: "
                          "of 32 bytes of device memory, and how few would do. passes: over the banks of shared "
                          "memory, or addresses of constants; 1 is best. clashes: lanes whose atomics meet at one "
                          "address.",
                          0, style.width));
}

void print_kernels(const std::vector<KernelShape>& kernels, const Gpu& gpu) {
    const int width = text_style(STDOUT_FILENO).width;
    if (!kernels.empty()) fmt::print("\n");
    for (std::size_t i = 0; i < kernels.size() && i < most_shapes_printed; ++i)
        fmt::print("{}", wrap(fmt::format("{}: {}.", kernels[i].kernel, occupancy_words(kernels[i], gpu)), 0, width));
    if (kernels.size() > most_shapes_printed)
        fmt::print("... and {} more shapes\n", kernels.size() - most_shapes_printed);
}

void print_limits(const std::vector<LimitOutcome>& limits) {
    for (const LimitOutcome& outcome : limits)
        if (!outcome.held()) fmt::print("{}", wrap(limit_words(outcome), 0, text_style(STDOUT_FILENO).width));
}

/// How many times as much memory the stage asks for as it has to move.
void print_traffic(const Counted& all) {
    if (all.least_bytes <= 0) return;
    const double bytes = device_bytes(all.accesses);
    fmt::print("{}", wrap(fmt::format("Device memory: kernels ask for {} in sectors of 32 bytes, {} what the stage has "
                                      "to move ({}). Caches serve some of it.",
                                      format_bytes(bytes), format_factor(bytes / all.least_bytes),
                                      format_bytes(all.least_bytes)),
                          0, text_style(STDOUT_FILENO).width));
}

Json to_json(const KernelShape& shape) {
    const LaunchCounts& launch = shape.launch;
    return {{"kernel", shape.kernel},
            {"launches", launch.launches},
            {"blocks", launch.blocks},
            {"block", launch.block},
            {"largest_grid", launch.grid},
            {"static_shared_bytes", launch.static_shared_bytes},
            {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
            {"registers", shape.resources.registers ? Json(shape.resources.registers) : Json()},
            {"spilled_bytes", shape.resources.spilled_bytes},
            {"resident_blocks", shape.occupancy.blocks},
            {"resident_threads", shape.occupancy.threads},
            {"resident_share", shape.occupancy.share},
            {"limit", shape.occupancy.limit}};
}

Json to_json(const Gpu& gpu) {
    return {{"name", gpu.name},           {"multiprocessors", gpu.multiprocessors},
            {"threads", gpu.threads},     {"blocks", gpu.blocks},
            {"registers", gpu.registers}, {"shared_bytes", gpu.shared_bytes}};
}

Json to_json(const Discovery& d) {
    return {{"cause", d.cause},  {"line", d.line},   {"other_line", d.other_line},
            {"note", d.is_note}, {"count", d.count}, {"message", d.message},
            {"hint", d.hint}};
}

Json to_json(const LineCounts& c) {
    static constexpr const char* kinds[] = {"device", "shared", "constant"};
    return {{"kernel", c.kernel},
            {"line", c.line},
            {"memory", kinds[std::min<std::size_t>(static_cast<std::size_t>(c.kind), 2)]},
            {"atomic", c.atomic},
            {"requests", c.requests},
            {"lanes", c.lanes},
            {"sectors", c.sectors},
            {"fewest_sectors", c.fewest_sectors},
            {"bank_passes", c.bank_passes},
            {"same_address", c.same_address},
            {"store_requests", c.store_requests},
            {"store_sectors", c.store_sectors},
            {"store_bank_passes", c.store_bank_passes}};
}

Json to_json(const LineSummary& m) {
    const auto known = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
    Json costly = Json::array();
    if (m.few_lanes()) costly.push_back("lanes");
    if (m.many_sectors()) costly.push_back("sectors");
    if (m.many_passes()) costly.push_back("passes");
    if (m.many_clashes()) costly.push_back("clashes");
    return {{"line", m.line},
            {"heat", m.heat},
            {"requests", m.requests},
            {"lanes", m.lanes},
            {"sectors", known(m.sectors)},
            {"fewest_sectors", known(m.fewest_sectors)},
            {"passes", known(m.passes)},
            {"clashes", known(m.clashes)},
            {"costly", costly}};
}

Json to_json(const LimitOutcome& outcome) {
    return {{"counter", counter_name(outcome.limit.counter)},
            {"dataset", outcome.limit.dataset},
            {"at_most", outcome.limit.at_most},
            {"value", outcome.value},
            {"held", outcome.held()},
            {"message", outcome.held() ? "" : limit_words(outcome)}};
}

/// Every counter that a limit can be on, by its name.
Json to_json(const Counted& counted) {
    Json json = {{"dataset", counted.dataset}, {"least_bytes", counted.least_bytes}};
    for (const Counter counter : {Counter::device_bytes, Counter::device_accesses, Counter::device_atomics,
                                  Counter::sectors, Counter::bank_passes, Counter::idle_lanes})
        json[std::string(counter_name(counter))] = counter_value(counter, counted);
    return json;
}

template <class T>
Json list_of(const std::vector<T>& items) {
    Json list = Json::array();
    for (const T& item : items) list.push_back(to_json(item));
    return list;
}

/// What `inspect --json` writes and grader/journal/inspection.py reads, schema 1; tests/labs/test_inspect.py holds the
/// keys. "counts" are sums over the requests of all warps that were looked at.
Json to_json(const Inspection& found) {
    return {{"schema", 1},
            {"lab", found.lab},
            {"stage", found.stage},
            {"datasets", found.datasets.size()},
            {"passed", found.passed},
            {"file", found.source.name},
            {"source", found.source.lines()},
            {"findings", list_of(found.findings)},
            {"counts", list_of(found.counts)},
            {"lines", list_of(found.lines)},
            {"limits", list_of(found.limits)},
            {"counters", list_of(found.datasets)},
            {"gpu", to_json(found.gpu)},
            {"kernels", list_of(found.kernels)},
            {"device_bytes", device_bytes(found.all.accesses)},
            {"least_bytes", found.all.least_bytes}};
}

/// BUILD/inspect/LAB-STAGE.json, of which the HTML page is made, and a copy where --json says.
void keep(const Inspection& found, const Report& report, const std::filesystem::path& file, const Options& options) {
    Json json = to_json(found);
    const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    const auto folder = options.build / "inspect";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / (found.lab + "-" + found.stage + ".json")) << text;
    if (!options.json.empty()) std::ofstream(options.json) << text;
    if (!is_work(options) || !options.dataset.empty()) return;
    json.erase("source");
    json.erase("lines");
    keep_or_say([&] {
        append_record(options.work, {found.lab, found.stage, sha256_file(file), file}, "inspection", report.time,
                      {{"inspection", json}});
    });
}

}  // namespace

int inspect(const Options& options) {
    Judge judge({options.root, options.build, options.work}, Backend::cpu);
    const Lab& lab = judge.lab(options.lab);
    const Stage& stage = lab.stage(options.stage);
    check_names(lab, options, Backend::cpu);
    const Gpu& gpu = options.gpu.empty() ? usual_gpu() : find_gpu(options.gpu);
    if (is_work(options)) start_lab(lab, judge.folders());
    const auto file = options.source.empty() ? judge.source_of(lab, stage, options.tree) : options.source;
    Task task;
    task.for_tools = true;
    Judge::Ready ready = judge.make_ready(lab, stage, file, task);
    const int width = text_style(STDOUT_FILENO).width;
    if (!ready.run) {
        const auto& failure = ready.compilation.failure;
        fmt::print("{}{}", ready.compilation.log, wrap(failure ? failure->message : "It does not compile.", 0, width));
        return ready.compilation.verdict == Verdict::failed ? 1 : 2;
    }
    StageRun& run = *ready.run;
    prepare_for_check_mode(run);
    Inspection found{lab.name, stage.id, Source(file), gpu};
    std::vector<Check> checks;
    for (const Dataset& dataset : lab.datasets) {
        if (!options.dataset.empty() ? dataset.name != options.dataset : !small_enough(run, dataset)) continue;
        checks.push_back(check_dataset(run, dataset));
        run.end_session();
        found.datasets.push_back(take_counts(run, dataset));
    }
    if (checks.empty())
        throw UsageError(
            fmt::format("No dataset of {} is small enough for check mode; DATASET=NAME takes any.", lab.name));
    fmt::print("{}/{} in check mode on {} (cpu backend)\n", lab.name, stage.id,
               format_plural(checks.size(), "dataset"));
    found.findings = explain_findings(run, run.findings);
    print_findings(found);
    const bool clean =
        std::all_of(found.findings.begin(), found.findings.end(), [](const Discovery& d) { return d.is_note; });
    found.passed = print_verdicts(checks, clean);
    found.all = all_of(found.datasets);
    found.counts = add_up_counts(run, found.all.accesses);
    std::map<std::string, KernelResources> resources;
    if (!options.no_nvcc) resources = judge.resources(lab, stage, file, gpu.architecture());
    found.kernels = describe_kernels(found.all.launches, resources, gpu);
    if (found.passed) found.limits = compare_with_limits(stage, found.datasets);
    print_limits(found.limits);
    print_kernels(found.kernels, gpu);
    print_traffic(found.all);
    found.lines = summarize_lines(found.counts);
    print_source(found.lines, found.source);
    keep(found, judge.begin_report("inspect", lab, task, options.tree), file, options);
    const bool used = std::all_of(found.limits.begin(), found.limits.end(), std::mem_fn(&LimitOutcome::held));
    return clean && found.passed && used ? 0 : 1;
}

}  // namespace warplab
