// Compares modelled times with the committed timings. It takes minutes, so it runs only when asked for; its output is
// grader/judge/predict/COMPARED.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

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

std::vector<double> ranks(const std::vector<Row>& rows, double Row::*what) {
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t i) { return rows[i].*what; });
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

void print_summary(const std::string& name, std::vector<Row> rows) {
    std::ranges::sort(rows, {}, &Row::factor);
    const auto at = [&](double part) { return rows[static_cast<std::size_t>(part * (rows.size() - 1))].factor(); };
    fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", name, rows.size(), spearman(rows), at(0.5), at(0.9),
               rows.back().factor());
}

std::vector<Row> compare_all(const Json& results, const Machine& machine) {
    const char* named = std::getenv("BUILD");
    Judge judge({fs::current_path(), fs::absolute(named && *named ? named : "build"), fs::temp_directory_path()},
                Backend::cpu);
    std::vector<Row> rows;
    for (const auto& [id, stage_results] : results["stages"].items()) {
        const Lab& lab = judge.lab(id.substr(0, id.find('/')));
        const Stage& stage = lab.stage(id.substr(id.find('/') + 1));
        for (const Json& measured : stage_results["measurements"]) {
            const Dataset& dataset = lab.dataset(measured["dataset"].get<std::string>());
            if (dataset.uses.unscored) continue;
            const fs::path source = lab.root / "solutions" / lab.name / (stage.id + ".cu");
            const Prediction found = predict(judge, lab, stage, source, dataset, machine, SandboxLevel::none);
            EXPECT_EQ(found.why_not, "") << id << ' ' << dataset.name;
            if (found.seconds > 0)
                rows.push_back({lab.name, stage.id, dataset.name,
                                measured["median_s"].get<double>() / measured["iterations"].get<double>() * 1e6,
                                found.seconds / lab.benchmark.iterations * 1e6});
        }
    }
    return rows;
}

TEST(ModelledTimes, DISABLED_ComparedWithMeasured) {
    const Machine machine = read_machine("grader/judge/predict/gpus", "h200");
    std::ifstream file("handouts/results/nvidia-h200.json");
    std::vector<Row> rows = compare_all(Json::parse(file), machine);
    ASSERT_FALSE(rows.empty());
    fmt::print("# Modelled and measured times of the reference solutions\n\n");
    fmt::print("{}. Constants: {}.\n\n", machine.name, machine.source);
    fmt::print("| Lab | timings | Spearman | median factor | 90% within | worst |\n|---|---|---|---|---|---|\n");
    print_summary("all", rows);
    std::map<std::string, std::vector<Row>> of_lab;
    for (const Row& row : rows) of_lab[row.lab].push_back(row);
    for (const auto& [lab, of_this] : of_lab) print_summary(lab, of_this);
    fmt::print("\nMicroseconds of an iteration, the worst first:\n\n");
    fmt::print("| Stage | dataset | measured | modelled | modelled / measured |\n|---|---|---|---|---|\n");
    std::ranges::sort(rows, std::greater<>(), &Row::factor);
    for (const Row& row : rows)
        fmt::print("| {}/{} | {} | {:.2f} | {:.2f} | {:.2f} |\n", row.lab, row.stage, row.dataset, row.measured_us,
                   row.modelled_us, row.modelled_us / row.measured_us);
}

}  // namespace
}  // namespace warplab::predict
