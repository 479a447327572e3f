// Check mode on a stage: every public dataset that is small enough, with every access watched. Needs no GPU.

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "grader/core/json.h"
#include "grader/core/text.h"
#include "grader/core/utf8.h"
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

std::string source_line(const std::filesystem::path& source, int wanted) {
    std::ifstream file(source);
    std::string line;
    for (int i = 0; i < wanted && std::getline(file, line); ++i) {
    }
    const std::size_t first = line.find_first_not_of(" \t");
    return wanted > 0 && first != std::string::npos ? to_printable(line.substr(first, 100)) : "";
}

void print_discovery(const Discovery& d, const std::filesystem::path& source) {
    const TextStyle style = text_style(STDOUT_FILENO);
    const std::string name = source.filename().string();
    fmt::print("{}:{}: {}\n", name, d.line,
               paint(d.is_note ? "note" : d.cause, d.is_note ? Colour::yellow : Colour::red, style));
    fmt::print("{}", wrap(d.message, 4, style.width));
    if (const auto text = source_line(source, d.line); !text.empty()) fmt::print("    {:>5} | {}\n", d.line, text);
    if (d.other_line > 0 && d.other_line != d.line)
        fmt::print("    {:>5} | {}\n", d.other_line, source_line(source, d.other_line));
    if (!d.hint.empty()) fmt::print("{}", wrap("Hint: " + d.hint, 4, style.width));
    if (d.count > 1) fmt::print("    {} times in all\n", format_count(d.count));
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

void print_counts(const std::vector<LineCounts>& counts, const std::filesystem::path& source) {
    std::string kernel;
    for (const LineCounts& c : counts) {
        if (c.kernel != kernel) {
            kernel = c.kernel;
            fmt::print("\n{}, for each request of a warp:\n  {:>10}  {:>5}  {:<48}  {:>5}\n", kernel, "requests",
                       "lanes", "memory", "line");
        }
        fmt::print("  {:>10}  {:>5.1f}  {:<48}  {:>5} | {}\n", format_count(c.requests), ratio(c.lanes, c.requests),
                   what_costs(c), c.line, source_line(source, c.line).substr(0, 60));
    }
}

/// {"schema": 1, "lab", "stage", "datasets", "findings": [{"cause", "line", "other_line", "note", "count", "message",
/// "hint"}], "counts": [{"kernel", "line", "memory", "atomic", "requests", "lanes", "sectors", "fewest_sectors",
/// "bank_passes", "same_address"}]}; counts are sums over the requests of all warps that were looked at.
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
                                  {"same_address", c.same_address}});
    return json;
}

}  // namespace

int inspect(const Options& options) {
    Judge judge({options.root, options.build, options.work}, Backend::cpu);
    const Lab& lab = judge.lab(options.lab);
    const Stage& stage = lab.stage(options.stage);
    check_names(lab, options, Backend::cpu);
    if (options.source.empty() && options.tree.empty()) start_lab(lab, judge.folders());
    const auto source = options.source.empty() ? judge.source_of(lab, stage, options.tree) : options.source;
    Task task;
    task.for_tools = true;
    Judge::Ready ready = judge.make_ready(lab, stage, source, task);
    if (!ready.run) {
        const auto& failure = ready.compilation.failure;
        fmt::print("{}{}", ready.compilation.log, wrap(failure ? failure->message : "It does not compile.", 0, 100));
        return ready.compilation.verdict == Verdict::failed ? 1 : 2;
    }
    StageRun& run = *ready.run;
    run.environment = {"WARPLAB_THREADS=1"};
    std::size_t datasets = 0;
    for (const Dataset& dataset : lab.datasets) {
        if (!options.dataset.empty() ? dataset.name != options.dataset : !small_enough(run, dataset)) continue;
        ++datasets;
        check_dataset(run, dataset);
        run.end_session();
    }
    fmt::print("{}/{} in check mode on {} (cpu backend)\n", lab.name, stage.id, format_plural(datasets, "dataset"));
    const std::vector<Discovery> found = explain_findings(run, run.findings);
    std::size_t failures = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        failures += !found[i].is_note;
        if (i < most_printed) print_discovery(found[i], source);
    }
    if (found.size() > most_printed) fmt::print("... and {} more\n", found.size() - most_printed);
    if (failures == 0) fmt::print("No race, no access out of bounds, nothing read before it was written.\n");
    const std::vector<LineCounts> counts = add_up_counts(run, run.counts);
    print_counts(counts, source);
    if (!options.json.empty())
        std::ofstream(options.json)
            << to_json(run, datasets, found, counts).dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
    return failures ? 1 : 0;
}

}  // namespace warplab
