// Records the samples of timed programs on a GPU (traces.json), and grades repeatedly with the recorded rounds in
// random order, to compare the points under the stopping rule (end when the points are known) with those of all
// samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "grader/common/text.h"
#include "grader/judge/bench/clock.h"
#include "grader/judge/bench/paired.h"
#include "grader/judge/judge.h"
#include "grader/judge/timing.h"
#include "grader/model/score.h"
#include "grader/model/statistics.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;

constexpr int rounds_of_a_trace = 5;

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

const Dataset& first_scored(const Lab& lab, const Stage& stage) {
    for (const Dataset& dataset : lab.datasets)
        if (dataset.uses.bench && !dataset.uses.unscored && dataset.applies_to(stage)) return dataset;
    throw std::runtime_error("no dataset of " + stage.id + " is scored");
}

nlohmann::json record(Judge& judge, const Lab& lab, const Stage& stage, const fs::path& file, bool only_compile) {
    const auto student = judge.make_ready(lab, stage, file, Task{.fast = true});
    const auto reference = judge.make_ready(lab, stage, judge.source_of(lab, stage, "solutions"), Task{.fast = true});
    if (!student.run || !reference.run) throw std::runtime_error(file.string() + " does not compile");
    if (only_compile) return nullptr;
    const Dataset& dataset = first_scored(lab, stage);
    const timing::Pool pool = timing::make_pool(*student.run, timing::make_inputs(*student.run, dataset).pool);
    const int requested_calls =
        std::max(1, static_cast<int>(lab.benchmark.iterations / student.run->oracle.cost(pool.shape(lab)).iterations));
    const double slot_bytes =
        static_cast<double>(Buffers::bytes_per_slot(pool.shape(lab), 0, timing::timed_guard_bytes));
    const double fit = std::clamp(static_cast<double>(student.run->device.free_bytes()) / 8 / slot_bytes, 1.0, 64.0);
    const auto slots = static_cast<std::uint32_t>(std::min<double>(fit, requested_calls));
    const Effort effort{.samples = 5, .sample_s = 0.05, .round_s = 0};
    const Progress silent = [](GradingPhase, const std::string&) {};
    timing::PairedBenchmark paired(*student.run, reference.run.get(), pool, slots, 1, effort);
    paired.time_reference_alone(static_cast<int>(slots), silent);
    nlohmann::json rounds = nlohmann::json::array();
    for (int i = 0; i < rounds_of_a_trace && !paired.broken(); ++i) {
        paired.begin_round(silent);
        if (i == 0) paired.warm_up(requested_calls, silent);
        paired.take_round(silent);
    }
    if (paired.broken()) throw std::runtime_error(file.string() + " failed");
    for (const std::vector<timing::Sample>& samples : paired.taken.rounds) {
        nlohmann::json round{{"student_s", nlohmann::json::array()}, {"reference_s", nlohmann::json::array()}};
        for (const timing::Sample& sample : samples) {
            round["student_s"].push_back(sample.student_s / paired.taken.calls);
            round["reference_s"].push_back(sample.reference_s / paired.taken.calls);
        }
        rounds.push_back(round);
    }
    return {{"lab", lab.name},
            {"stage", stage.id},
            {"variant", file.stem().extension().string()},
            {"dataset", dataset.name},
            {"requested_calls", requested_calls},
            {"rounds", rounds}};
}

// The files are <lab>.<stage>.<variant>.cu, as slow_variants.py writes them; each is timed in alternation with its
// stage's solution, on the stage's first scored dataset. TRACES: the folder of the files; TRACES_JSON: the output;
// TRACES_PART: "k/n" for every n-th file from k on; TRACES_SECONDS: no trace begins later; 0 only compiles.
TEST(Traces, DISABLED_Record) {
    const fs::path folder = from_environment("TRACES");
    const std::string part = from_environment("TRACES_PART");
    const std::size_t at = std::stoul(part), step = std::stoul(part.substr(part.find('/') + 1));
    const double max_s = std::stod(from_environment("TRACES_SECONDS"));
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    std::ranges::sort(files, {}, [](const fs::path& file) { return std::hash<std::string>{}(file.filename()); });
    Judge judge{{fs::current_path(), fs::absolute("build"), fs::temp_directory_path()}, Backend::cuda};
    nlohmann::json traces = nlohmann::json::array();
    const auto begin = timing::Clock::now();
    for (std::size_t i = at; i < files.size() && (max_s == 0 || timing::seconds_since(begin) < max_s); i += step) {
        const std::string name = files[i].filename();
        const Lab& lab = judge.lab(name.substr(0, name.find('.')));
        const std::string stage = name.substr(lab.name.size() + 1);
        try {
            const auto trace = record(judge, lab, lab.stage(stage.substr(0, stage.find('.'))), files[i], max_s == 0);
            if (!trace.is_null()) traces.push_back(trace);
        } catch (const std::exception& error) {
            ADD_FAILURE() << name << ": " << error.what();
        }
        if (max_s > 0) std::ofstream(from_environment("TRACES_JSON")) << traces.dump() << '\n';
    }
}

struct Trace {
    std::string name;
    Stage stage;
    int iterations;
    double sequential_s;
    std::optional<double> previous_ratio;
    std::vector<std::vector<timing::Sample>> rounds;  // seconds of a call
    bool is_solution() const { return name.ends_with(" solution"); }
};

std::vector<Trace> read_traces() {
    const auto document = nlohmann::json::parse(std::ifstream("tests/judge/bench/traces.json"));
    std::vector<Trace> traces;
    for (const auto& recorded : document["traces"]) {
        const std::string stage_path = recorded["stage"], lab = stage_path.substr(0, stage_path.find('/'));
        Trace trace{stage_path + " " + recorded["variant"].get<std::string>(),
                    load_lab(fs::current_path(), lab).stage(stage_path.substr(lab.size() + 1)),
                    recorded["iterations"],
                    recorded["sequential_s"],
                    {},
                    {}};
        if (!recorded["previous_ratio"].is_null()) trace.previous_ratio = recorded["previous_ratio"].get<double>();
        for (const auto& round : recorded["rounds"]) {
            trace.rounds.emplace_back();
            for (std::size_t i = 0; i < round["student_s"].size(); ++i)
                trace.rounds.back().push_back(
                    {.student_s = round["student_s"][i], .reference_s = round["reference_s"][i]});
        }
        traces.push_back(trace);
    }
    return traces;
}

double speed_points(const Trace& trace, const timing::PairedSamples& samples) {
    StageReport report;
    report.compilation.verdict = report.verdict = Verdict::passed;
    report.checks.emplace_back();
    report.checks.back().points = 1;
    report.checks.back().verdict = Verdict::passed;
    Measurement& m = report.measurements.emplace_back();
    m.sequential_s = trace.sequential_s;
    m.previous_ratio = trace.previous_ratio;
    samples.fill_in(m);
    return score_stage(trace.stage, report)->speed;
}

timing::PairedSamples samples_without_rounds(const Trace& trace, const Effort& effort) {
    timing::PairedSamples samples(effort, true);
    samples.requested_calls = trace.iterations;
    const std::vector<timing::Sample>& first = trace.rounds.front();
    for (const timing::Sample& sample : first)
        samples.slowest_s = std::max({samples.slowest_s, sample.student_s, sample.reference_s});
    return samples;
}

struct Points {
    double points, uncertainty;  // uncertainty: difference of the points at both ends of the ratio's interval
    double ratio;                // to the reference
};

Points points_of_all_samples(const Trace& trace) {
    const Effort precise;
    timing::PairedSamples samples = samples_without_rounds(trace, precise);
    samples.rounds = trace.rounds;
    const PointsFor points = points_for(trace.stage, trace.sequential_s, trace.previous_ratio);
    const double reference_s = samples.median_reference_s() * trace.iterations;
    const Interval ratio = samples.ratio();
    return {speed_points(trace, samples), points(ratio.low, reference_s) - points(ratio.high, reference_s),
            ratio.median};
}

/// Grade as on a GPU, except that each round is a recorded round, drawn at random.
double grade_by_rule(const Trace& trace, std::mt19937& random) {
    Effort effort = effort_for(Task{}, false, 1);
    effort.points = points_for(trace.stage, trace.sequential_s, trace.previous_ratio);
    timing::PairedSamples samples = samples_without_rounds(trace, effort);
    do {
        samples.rounds.emplace_back();
        for (const timing::Sample& sample : trace.rounds[random() % trace.rounds.size()]) {
            samples.rounds.back().push_back(sample);
            if (samples.round_is_complete(2 * effort.sample_s * static_cast<double>(samples.rounds.back().size())))
                break;
        }
    } while (!samples.ended_by());
    return speed_points(trace, samples);
}

// Where the formula is steep, a few traces have points that are uncertain by more than 0.1 even with all samples.
TEST(StoppingRule, GivesThePointsOfAllSamples) {
    constexpr double tolerance = 0.1;
    const int gradings = std::getenv("WARPLAB_THOROUGH") ? 1000 : 10;
    const std::vector<Trace> traces = read_traces();
    std::mt19937 random(1);
    int solutions = 0, slow = 0, all_different = 0, max_different = 0;
    std::string worst;
    for (const Trace& trace : traces) {
        const auto [expected, uncertainty, ratio] = points_of_all_samples(trace);
        int different = 0;
        double lowest = expected;
        for (int i = 0; i < gradings; ++i) {
            const double points = grade_by_rule(trace, random);
            different += std::abs(points - expected) > tolerance;
            lowest = std::min(lowest, points);
        }
        all_different += different;
        if (different > max_different) max_different = different, worst = trace.name;
        if (trace.is_solution()) {
            ++solutions;
            EXPECT_DOUBLE_EQ(lowest, trace.stage.points.speed) << trace.name;
        } else if (uncertainty <= tolerance) {
            slow += ratio > 1.05 && ratio < 6;
            EXPECT_LE(different, std::max(2, gradings / 100)) << trace.name << ", " << expected << " by all samples";
        }
    }
    EXPECT_EQ(solutions, 41);
    EXPECT_GE(slow, 60);
    EXPECT_LE(all_different, gradings * static_cast<int>(traces.size()) / 100);
    std::printf(
        "%d solutions, %d slower programs; %d gradings of each of %zu traces: the points of %.2f%% differ by more "
        "than %.1f, %d of %d gradings are of %s\n",
        solutions, slow, gradings, traces.size(), 100.0 * all_different / gradings / static_cast<double>(traces.size()),
        tolerance, max_different, all_different, worst.c_str());
}

}  // namespace
}  // namespace warplab
