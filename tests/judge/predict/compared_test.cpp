// Compares modelled times with the committed timings. The tests take minutes, so they run only on request. The first
// one prints grader/judge/predict/COMPARED.md, the second one VARIANTS.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "grader/common/json.h"
#include "grader/judge/predict/predict.h"

namespace warplab::predict {
namespace {
namespace fs = std::filesystem;

struct Row {
    std::string lab, stage, dataset;
    double measured_us, modelled_us;  // of an iteration
    double factor() const { return std::max(measured_us / modelled_us, modelled_us / measured_us); }
};

std::vector<double> ranks(const std::vector<Row>& rows, double Row::*key) {
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t i) { return rows[i].*key; });
    std::vector<double> rank(rows.size());
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<double>(i);
    return rank;
}

/// Return Spearman's correlation of ranks.
double spearman(const std::vector<Row>& rows) {
    const auto a = ranks(rows, &Row::measured_us), b = ranks(rows, &Row::modelled_us);
    const auto n = static_cast<double>(rows.size());
    double squares = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
    return 1 - 6 * squares / (n * (n * n - 1));
}

constexpr auto explanation =
    R"(
This page shows how well the model predicts times. A *factor* is the larger of the modelled and the measured time,
divided by the smaller. The first table of each section shows Spearman's rank correlation between the two times, the
median factor, the factor that 90% of the timings do not exceed, and the largest factor.
)";

constexpr auto about_variants = R"(
A *variant* is a reference solution with other values of its macros. A *ratio* is a variant's time divided by the time of
the first variant of its stage in the results; that row has the ratios 1.00. The worst variants are listed first.
)";

void print_summary(const std::string& name, std::vector<Row> rows) {
    std::ranges::sort(rows, {}, &Row::factor);
    const auto at = [&](double part) { return rows[static_cast<std::size_t>(part * (rows.size() - 1))].factor(); };
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", name, rows.size(), spearman(rows), at(0.5), at(0.9),
               rows.back().factor());
}

/// A GPU with a file of constants and committed timings.
struct Compared {
    Machine machine;
    Json results;
    std::vector<Row> rows = {};

    /// Add a row if the dataset was timed.
    void add(const Lab& lab, const Stage& stage, const Dataset& dataset, const Recording& recording) {
        const Json& timed = results["stages"][lab.name + "/" + stage.id]["measurements"];
        for (const Json& measured : timed) {
            if (measured["dataset"].get<std::string>() != dataset.name) continue;
            const Prediction prediction = model(recording, machine);
            EXPECT_EQ(prediction.why_not, "") << stage.id << ' ' << dataset.name;
            rows.push_back({lab.name, stage.id, dataset.name,
                            measured["median_s"].get<double>() / measured["iterations"].get<double>() * 1e6,
                            prediction.seconds / lab.benchmark.iterations * 1e6});
        }
    }

    void print() {
        fmt::print("\n## {}\n\nConstants: {}.\n\n", machine.name, machine.source);
        fmt::print("| Lab | timings | Spearman | median factor | 90% within | worst |\n|---|---|---|---|---|---|\n");
        print_summary("all", rows);
        std::map<std::string, std::vector<Row>> of_lab;
        for (const Row& row : rows) of_lab[row.lab].push_back(row);
        for (const auto& [lab, rows_of_part] : of_lab) print_summary(lab, rows_of_part);
        fmt::print("\nMicroseconds per iteration; the worst are listed first:\n\n");
        fmt::print("| Stage | dataset | measured | modelled | modelled / measured |\n|---|---|---|---|---|\n");
        std::ranges::sort(rows, std::greater<>(), &Row::factor);
        for (const Row& row : rows)
            fmt::print("| {}/{} | {} | {:.2f} | {:.2f} | {:.2f} |\n", row.lab, row.stage, row.dataset, row.measured_us,
                       row.modelled_us, row.modelled_us / row.measured_us);
    }
};

std::vector<Compared> compared_gpus() {
    const fs::path constants = "grader/judge/predict/gpus";
    std::vector<Compared> gpus;
    for (const fs::directory_entry& entry : fs::directory_iterator("handouts/results")) {
        std::ifstream file(entry.path());
        const Json results = Json::parse(file);
        for (const std::string& name : known_machines(constants)) {
            const Machine machine = read_machine(constants, name);
            if (machine.name == results["gpu"].get<std::string>()) gpus.push_back({machine, results});
        }
    }
    std::ranges::sort(gpus, {}, [](const Compared& gpu) { return gpu.machine.name; });
    return gpus;
}

TEST(ModelledTimes, DISABLED_ComparedWithMeasured) {
    std::vector<Compared> gpus = compared_gpus();
    ASSERT_FALSE(gpus.empty());
    const char* build = std::getenv("BUILD");
    Judge judge({fs::current_path(), fs::absolute(build && *build ? build : "build"), fs::temp_directory_path()},
                Backend::cpu);
    const char* const only_lab = std::getenv("ONLY");  // one lab
    for (const std::string& name : find_labs(fs::current_path())) {
        if (only_lab && name != only_lab) continue;
        const Lab& lab = judge.lab(name);
        std::map<std::string, Problem> problems;
        for (const Dataset& dataset : lab.datasets)
            if (dataset.uses.bench && !dataset.uses.unscored)
                problems[dataset.name] = judge.oracle(lab).generate(dataset, dataset.seed, 0);
        for (const Stage& stage : lab.stages)
            for (const Dataset& dataset : lab.datasets) {
                if (!dataset.uses.bench || dataset.uses.unscored || !dataset.applies_to(stage)) continue;
                const fs::path source = lab.root / "solutions" / lab.name / (stage.id + ".cu");
                const Recording recording = record(judge, lab, stage, source, problems.at(dataset.name),
                                                   gpus.front().machine, SandboxLevel::none);
                for (Compared& gpu : gpus) gpu.add(lab, stage, dataset, recording);
                fmt::print(stderr, "{}/{} {}\n", lab.name, stage.id, dataset.name);
            }
    }
    fmt::print("# Modelled and measured times of the reference solutions\n{}", explanation);
    for (Compared& gpu : gpus) gpu.print();
}

/// A solution with other values of its macros, as `make sweep` timed it.
struct Variant {
    Row row;
    std::string defines;
};

/// Write the solution with these macros to a separate folder, and return the file.
fs::path write_variant(const fs::path& folder, const Lab& lab, const Stage& stage, const Json& defines) {
    std::ifstream solution(lab.root / "solutions" / lab.name / (stage.id + ".cu"));
    const fs::path file = folder / (stage.id + ".cu");
    std::ofstream variant(file);
    for (const auto& [name, value] : defines.items()) variant << "#define " << name << ' ' << value << '\n';
    variant << solution.rdbuf();
    return file;
}

void print_variants(std::vector<Variant> variants) {
    std::vector<Row> rows;
    fmt::print("| Stage | variants | Spearman | median factor | 90% within | worst |\n|---|---|---|---|---|---|\n");
    std::map<std::string, std::vector<Row>> of_stage;
    for (const Variant& variant : variants) {
        rows.push_back(variant.row);
        of_stage[variant.row.lab + "/" + variant.row.stage].push_back(variant.row);
    }
    print_summary("all", rows);
    for (const auto& [stage, rows_of_part] : of_stage) print_summary(stage, rows_of_part);
    std::map<std::string, Row> first;
    for (Variant& variant : variants) {
        const Row& base = first.try_emplace(variant.row.lab + variant.row.stage, variant.row).first->second;
        variant.row.measured_us /= base.measured_us;
        variant.row.modelled_us /= base.modelled_us;
    }
    std::ranges::sort(variants, std::greater<>(), [](const Variant& variant) { return variant.row.factor(); });
    const auto near =
        std::ranges::count_if(variants, [](const Variant& variant) { return variant.row.factor() <= 1.5; });
    fmt::print("\nThe modelled ratio is within a factor of 1.5 of the measured ratio for {} of {} variants:\n\n", near,
               variants.size());
    fmt::print("| Stage | macros | measured ratio | modelled ratio | modelled / measured |\n|---|---|---|---|---|\n");
    for (const auto& [row, defines] : variants)
        fmt::print("| {}/{} | {} | {:.2f} | {:.2f} | {:.2f} |\n", row.lab, row.stage, defines, row.measured_us,
                   row.modelled_us, row.modelled_us / row.measured_us);
}

TEST(ModelledTimes, DISABLED_OfVariantsComparedWithMeasured) {
    const char *const build = std::getenv("BUILD"), *const only_lab = std::getenv("ONLY");
    Judge judge({fs::current_path(), fs::absolute(build && *build ? build : "build"), fs::temp_directory_path()},
                Backend::cpu);
    fmt::print("# Modelled and measured times of variants of the reference solutions\n{}{}", explanation,
               about_variants);
    const fs::path folder = fs::temp_directory_path() / "warplab-variants";
    fs::create_directories(folder);
    for (const Compared& gpu : compared_gpus()) {
        std::map<std::string, std::vector<Variant>> of_lab;
        for (const auto& [name, sweep] : gpu.results["sweeps"].items()) {
            if (only_lab && !name.starts_with(only_lab)) continue;
            const Lab& lab = judge.lab(name.substr(0, name.find('/')));
            const Stage& stage = lab.stage(name.substr(name.find('/') + 1));
            const auto dataset = std::ranges::find(lab.datasets, sweep["dataset"].get<std::string>(), &Dataset::name);
            const Problem problem = judge.oracle(lab).generate(*dataset, dataset->seed, 0);
            for (const Json& point : sweep["points"]) {
                if (!point["failure"].get<std::string>().empty()) continue;
                const fs::path file = write_variant(folder, lab, stage, point["defines"]);
                const Prediction prediction =
                    model(record(judge, lab, stage, file, problem, gpu.machine, SandboxLevel::none), gpu.machine);
                if (prediction.why_not != "") {
                    fmt::print(stderr, "{} {}: {}\n", name, point["defines"].dump(), prediction.why_not);
                    continue;
                }
                const double measured = point["median_s"].get<double>() / sweep["iterations"].get<double>() * 1e6;
                of_lab[lab.name].push_back(
                    {{lab.name, stage.id, dataset->name, measured, prediction.seconds / lab.benchmark.iterations * 1e6},
                     point["defines"].dump()});
            }
            fmt::print(stderr, "{}\n", name);
        }
        for (auto& [lab, variants] : of_lab) {
            fmt::print("\n## {}, {}\n\n", lab, gpu.machine.name);
            print_variants(std::move(variants));
        }
    }
}

}  // namespace
}  // namespace warplab::predict
