// Check mode on a stage: every public dataset that is small enough, with every access watched. Needs no GPU.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "grader/core/json.h"
#include "grader/core/text.h"
#include "grader/core/utf8.h"
#include "grader/judge/compilation/diagnostics.h"
#include "grader/judge/findings.h"
#include "grader/judge/judge.h"
#include "grader/judge/verbs.h"
#include "grader/judge/work.h"

namespace warplab {
namespace {

constexpr double most_bytes = 1 << 20;    // that a dataset has, times its iterations
constexpr std::size_t most_printed = 12;  // discoveries

bool small_enough(const StageRun& run, const Dataset& dataset) {
    if (!dataset.uses.check || dataset.uses.cuda_only || !dataset.applies_to(run.stage)) return false;
    const Problem problem = run.oracle.generate(dataset, dataset.seed, 0);
    double bytes = 0;
    for (const Array& array : problem.arrays) bytes += static_cast<double>(array.bytes());
    return bytes * std::max(1.0, run.oracle.cost(problem).iterations) <= most_bytes;
}

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

double ratio(std::uint64_t part, std::uint64_t whole) {
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// "device: 8.0 sectors of 4.0", "shared: 2.0 bank passes, 3.1 at one address".
std::string what_costs(const LineCounts& c) {
    const double passes = ratio(c.bank_passes, c.requests);
    std::string text;
    switch (c.kind) {
        case MemoryKind::shared:
            text = fmt::format("shared: {:.1f} bank passes", passes);
            break;
        case MemoryKind::constant:
            text = fmt::format("constant: {:.1f} addresses", passes);
            break;
        default:
            text = fmt::format("device: {:.1f} sectors, {:.1f} at best", ratio(c.sectors, c.requests),
                               ratio(c.fewest_sectors, c.requests));
    }
    if (c.atomic) text += fmt::format("; {:.1f} at one address", ratio(c.same_address, c.requests));
    return text;
}

void print_counts(const std::vector<LineCounts>& counts, const Source& source) {
    std::string kernel;
    for (const LineCounts& c : counts) {
        if (c.kernel != kernel) {
            kernel = c.kernel;
            fmt::print("\n{}, for each request of a warp:\n  {:>10}  {:>5}  {:<48}  {:>5}\n", kernel, "requests",
                       "lanes", "memory", "line");
        }
        fmt::print("  {:>10}  {:>5.1f}  {:<48}  {:>5} | {}\n", format_count(c.requests), ratio(c.lanes, c.requests),
                   what_costs(c), c.line, source.line(c.line, 60));
    }
}

/// {"schema": 1, "lab", "stage", "datasets", "findings": [{"cause", "line", "other_line", "note", "count", "message",
/// "hint"}], "counts": [{"kernel", "line", "memory", "atomic", "requests", "lanes", "sectors", "fewest_sectors",
/// "bank_passes", "same_address", "store_requests", "store_sectors", "store_bank_passes"}]}; counts are sums over the
/// requests of all warps that were looked at.
Json to_json(const StageRun& run, std::size_t datasets, const std::vector<Discovery>& found,
             const std::vector<LineCounts>& counts) {
    static constexpr const char* kinds[] = {"device", "shared", "constant"};
    Json json = {{"schema", 1}, {"lab", run.lab.name}, {"stage", run.stage.id}, {"datasets", datasets}};
    json["findings"] = Json::array();
    for (const Discovery& d : found)
        json["findings"].push_back({{"cause", d.cause},
                                    {"line", d.line},
                                    {"other_line", d.other_line},
                                    {"note", d.is_note},
                                    {"count", d.count},
                                    {"message", d.message},
                                    {"hint", d.hint}});
    json["counts"] = Json::array();
    for (const LineCounts& c : counts)
        json["counts"].push_back({{"kernel", c.kernel},
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
                                  {"store_bank_passes", c.store_bank_passes}});
    return json;
}

}  // namespace

int inspect(const Options& options) {
    Judge judge({options.root, options.build, options.work}, Backend::cpu);
    const Lab& lab = judge.lab(options.lab);
    const Stage& stage = lab.stage(options.stage);
    check_names(lab, options, Backend::cpu);
    if (options.source.empty() && options.tree.empty()) start_lab(lab, judge.folders());
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
    run.environment = {"WARPLAB_THREADS=1"};
    std::vector<Check> checks;
    for (const Dataset& dataset : lab.datasets) {
        if (!options.dataset.empty() ? dataset.name != options.dataset : !small_enough(run, dataset)) continue;
        checks.push_back(check_dataset(run, dataset));
        run.end_session();
    }
    if (checks.empty())
        throw UsageError(
            fmt::format("No dataset of {} is small enough for check mode; DATASET=NAME takes any.", lab.name));
    fmt::print("{}/{} in check mode on {} (cpu backend)\n", lab.name, stage.id,
               format_plural(checks.size(), "dataset"));
    const Source source(file);
    const std::vector<Discovery> found = explain_findings(run, run.findings);
    for (std::size_t i = 0; i < found.size() && i < most_printed; ++i) print_discovery(found[i], source);
    if (found.size() > most_printed) fmt::print("... and {} more\n", found.size() - most_printed);
    const bool clean = std::all_of(found.begin(), found.end(), [](const Discovery& d) { return d.is_note; });
    const bool passed = print_verdicts(checks, clean);
    const std::vector<LineCounts> counts = add_up_counts(run, run.counts);
    print_counts(counts, source);
    if (!options.json.empty())
        std::ofstream(options.json)
            << to_json(run, checks.size(), found, counts).dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
    return clean && passed ? 0 : 1;
}

}  // namespace warplab
