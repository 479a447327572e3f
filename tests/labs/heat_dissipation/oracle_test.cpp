#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

#include "grader/common/json.h"
#include "labs/heat_dissipation/pgm.h"
#include "tests/labs/oracle_case.h"

namespace warplab::test {
namespace {

using testing::HasSubstr;

enum Buffer { initial, conductivity, halo, field, result };

const Oracle& oracle() { return load_oracle("heat_dissipation"); }

Dataset recipe(const std::string& generator, std::size_t rows, std::size_t columns, std::size_t iterations,
               Parameters more = {}) {
    Parameters parameters = {{"rows", whole(rows)}, {"columns", whole(columns)}, {"iterations", whole(iterations)}};
    parameters.merge(more);
    return make_dataset(generator, parameters);
}

std::span<const double> values(const Problem& problem, std::size_t buffer) {
    return std::as_const(problem.arrays[buffer]).as<double>();
}

/// Solves a problem of the oracle directly by the formula, without the oracle's buffers.
struct Plain {
    explicit Plain(const Problem& problem)
        : rows(problem.sizes[0]), columns(problem.sizes[1]), c(values(problem, conductivity)) {
        const auto cells = values(problem, initial), edge = values(problem, halo);
        field.assign(cells.begin(), cells.end());
        above.assign(edge.begin(), edge.begin() + columns);
        below.assign(edge.begin() + columns, edge.end());
    }

    double at(std::int64_t i, std::int64_t j) const {
        const auto column = static_cast<std::size_t>((j + columns) % columns);
        if (i < 0) return above[column];
        if (i >= rows) return below[column];
        return field[static_cast<std::size_t>(i * columns) + column];
    }

    double iterate() {
        const double root = std::sqrt(2.0), direct = root / (root + 1) / 4, diagonal = 1 / (root + 1) / 4;
        std::vector<double> next(field.size());
        double largest = 0;
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) {
                const auto k = static_cast<std::size_t>(i * columns + j);
                const double near = at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1);
                const double far = at(i - 1, j - 1) + at(i - 1, j + 1) + at(i + 1, j - 1) + at(i + 1, j + 1);
                next[k] = c[k] * field[k] + (1 - c[k]) * (direct * near + diagonal * far);
                largest = std::max(largest, std::abs(next[k] - field[k]));
            }
        field = next;
        return largest;
    }

    std::int64_t rows, columns;
    std::span<const double> c;
    std::vector<double> field, above, below;
};

void expect_right(const Problem& solved) {
    Plain plain(solved);
    double change = 0;
    for (int k = 0; k < static_cast<int>(values(solved, result)[0]); ++k) change = plain.iterate();
    const double bound = oracle().tolerance(solved, field).absolute;
    EXPECT_NEAR(values(solved, result)[1], change, 2 * bound);
    for (std::size_t k = 0; k < plain.field.size(); ++k)
        ASSERT_NEAR(values(solved, field)[k], plain.field[k], bound) << "cell " << k;
}

TEST(HeatOracle, FollowsTheFormulaAtAnySize) {
    for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 2}, {2, 1}, {1, 40}, {40, 1}, {7, 2}, {13, 31}, {31, 13}})
        for (const char* generator : {"random", "discs", "extremes"}) {
            SCOPED_TRACE(fmt::format("{} {} x {}", generator, rows, columns));
            expect_right(solve(oracle(), recipe(generator, rows, columns, 9), 5));
        }
}

TEST(HeatOracle, SequentialAndOpenmpResultsAreIdentical) {
    Problem problem = solve(oracle(), recipe("random", 67, 41, 30, {{"threshold", 0.3}}), 5);
    const Problem sequential = problem;
    problem.arrays[field] = Array(ElementType::float64, 67 * 41);
    problem.arrays[result] = Array(ElementType::float64, 2);
    oracle().reference(problem, Execution::openmp);
    for (const std::size_t buffer : {std::size_t{field}, std::size_t{result}})
        EXPECT_EQ(std::memcmp(sequential.arrays[buffer].data(), problem.arrays[buffer].data(),
                              problem.arrays[buffer].bytes()),
                  0);
}

TEST(HeatOracle, HaloRowsAreTheFirstAndLastRow) {
    const Problem problem = oracle().generate(recipe("random", 5, 8, 1), 1, 0);
    for (std::size_t j = 0; j < 8; ++j) {
        EXPECT_EQ(values(problem, halo)[j], values(problem, initial)[j]);
        EXPECT_EQ(values(problem, halo)[8 + j], values(problem, initial)[32 + j]);
    }
}

TEST(HeatOracle, WithoutIterationsTheFieldIsUnchanged) {
    const Problem problem = solve(oracle(), recipe("random", 4, 5, 0, {{"threshold", 1.0}}), 1);
    EXPECT_TRUE(std::ranges::equal(values(problem, field), values(problem, initial)));
    EXPECT_EQ(values(problem, result)[0], 0);
    EXPECT_EQ(values(problem, result)[1], 0);
}

TEST(HeatOracle, PoolsAreLongerInAllInputs) {
    const Problem pool = oracle().generate(recipe("random", 6, 10, 3), 1, 64);
    EXPECT_EQ(pool.arrays[initial].count(), 124u);
    EXPECT_EQ(pool.arrays[conductivity].count(), 124u);
    EXPECT_EQ(pool.arrays[halo].count(), 84u);
    EXPECT_EQ(pool.arrays[field].count(), 60u);
    for (const double value : values(pool, halo)) EXPECT_TRUE(value >= 0 && value < 100);
}

TEST(HeatOracle, ShortensOnlyLargeProblems) {
    Problem problem = oracle().generate(recipe("random", 4096, 4096, 1000), 1, 0);
    oracle().shorten(problem);
    EXPECT_EQ(problem.sizes[2], 59);
    EXPECT_EQ(oracle().cost(problem).iterations, 59);
    Problem small = oracle().generate(recipe("random", 10, 10, 1000), 1, 0);
    oracle().shorten(small);
    EXPECT_EQ(small.sizes[2], 1000);
}

TEST(HeatOracle, RefusesInvalidRecipes) {
    const auto generate = [](const Dataset& dataset) { return oracle().generate(dataset, 1, 0); };
    EXPECT_THROW(generate(recipe("rnadom", 3, 3, 1)), ManifestError);
    EXPECT_THROW(generate(recipe("random", 0, 3, 1)), ManifestError);
    EXPECT_THROW(generate(recipe("random", 3, 0, 1)), ManifestError);
    EXPECT_THROW(generate(recipe("random", 3, 3, 1, {{"report_every", 0}})), ManifestError);
    EXPECT_THROW(generate(recipe("random", 3, 3, 1, {{"threshold", -1}})), ManifestError);
    EXPECT_THROW(generate(recipe("random", 3, 3, 1, {{"threshold", "none"}})), ManifestError);
    EXPECT_THROW(generate(recipe("random", 3, 3, 1, {{"n", 1}})), ManifestError);
    EXPECT_THROW(generate(recipe("random", 8, 8, 5, {{"stop_after", 6}})), ManifestError);
}

// --- every committed dataset ---

std::vector<Dataset> committed_datasets() {
    std::vector<Dataset> datasets = load_lab(root_folder(), "heat_dissipation").datasets;
    std::erase_if(datasets, [](const Dataset& dataset) { return dataset.uses.cuda_only || !dataset.points; });
    return datasets;
}

TEST(HeatDatasets, RoundingDoesNotCrossAThreshold) {
    int with_threshold = 0;
    for (const Dataset& dataset : committed_datasets())
        for (const std::uint64_t seed : {std::uint64_t{dataset.seed}, std::uint64_t{77}, ~std::uint64_t{5}}) {
            const Problem problem = solve(oracle(), dataset, seed);
            if (problem.reals[0] == 0 || dataset.name == "halves") break;  // halves of integers are not rounded
            ++with_threshold;
            Plain plain(problem);
            for (double k = 1; k <= values(problem, result)[0]; ++k) {
                Problem shortened = problem;
                shortened.sizes[2] = static_cast<std::int64_t>(k);
                const double bound = 2 * oracle().tolerance(shortened, field).absolute;
                ASSERT_GT(std::abs(plain.iterate() - problem.reals[0]), 2 * bound) << dataset.name << ", " << k;
            }
        }
    EXPECT_GE(with_threshold, 12);
}

TEST(HeatDatasets, TheBoundIsFarBelowTheEffectOfMistakes) {
    for (const Dataset& dataset : committed_datasets()) {
        const Problem problem = oracle().generate(dataset, 3, 0);
        EXPECT_LE(oracle().tolerance(problem, field).absolute, 1e-8) << dataset.name;
    }
}

TEST(HeatDatasets, PicturesGiveNumpysResults) {
    const Lab lab = load_lab(root_folder(), "heat_dissipation");
    std::ifstream stream(root_folder() / "tests/labs/heat_dissipation/golden.json");
    const Json golden = Json::parse(stream);
    EXPECT_GE(golden.size(), 2u);
    for (const auto& [name, right] : golden.items()) {
        SCOPED_TRACE(name);
        const Problem problem = solve(oracle(), lab.dataset(name), 1);
        const auto cells = values(problem, field);
        const double bound = oracle().tolerance(problem, field).absolute;
        EXPECT_EQ(values(problem, result)[0], right["iterations"]);
        EXPECT_NEAR(values(problem, result)[1], right["largest_change"], 2 * bound);
        EXPECT_NEAR(std::ranges::min(cells), right["minimum"], bound);
        EXPECT_NEAR(std::ranges::max(cells), right["maximum"], bound);
        const double mean = std::accumulate(cells.begin(), cells.end(), 0.0) / static_cast<double>(cells.size());
        EXPECT_NEAR(mean, right["mean"], 2 * bound);
        for (const Json& cell : right["cells"])
            EXPECT_NEAR(cells[cell[0].get<std::size_t>() * static_cast<std::size_t>(problem.sizes[1]) +
                              cell[1].get<std::size_t>()],
                        cell[2], bound);
    }
}

// --- PGM ---

heat::Picture read_text(const std::string& text) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const std::string file = testing::TempDir() + test->test_suite_name() + test->name() + ".pgm";
    std::ofstream(file, std::ios::binary) << text;
    return heat::PgmReader(file).read();
}

std::string error_of(const std::string& text) {
    try {
        read_text(text);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "none";
}

TEST(HeatPgm, ReadsAnyLargestValueCommentsAndLineEnds) {
    for (const char* text :
         {"P2\n2 3\n4\n0 1\n2 3\n4 0\n", "P2 2 3 4 0 1 2 3 4 0", "P2\r\n2 3\r\n4\r\n0 1 2\r\n3 4 0\r\n",
          "P2#a\n#b\n2#c 9\n3 # d\n\n4\n0 1 # five\n2\t3 4 0 # end"}) {
        const heat::Picture picture = read_text(text);
        EXPECT_EQ(picture.width, 2u);
        EXPECT_EQ(picture.height, 3u);
        EXPECT_THAT(picture.values, testing::ElementsAre(0, 0.25, 0.5, 0.75, 1, 0)) << text;
    }
    EXPECT_THAT(read_text("P2 2 1 65535 65535 0").values, testing::ElementsAre(1, 0));
    EXPECT_THAT(read_text("P2 1 1 4000000000 1000000000").values, testing::ElementsAre(0.25));
}

TEST(HeatPgm, ReportsErrorsWithTheirPlace) {
    EXPECT_THAT(error_of(""), HasSubstr(".pgm:1: this is not a supported PGM picture"));
    EXPECT_THAT(error_of("P5 2 2 255 abcd"), HasSubstr("this is a P5 file; only P2 (grey, as text)"));
    EXPECT_THAT(error_of("\x89PNG\r\n"), HasSubstr("not a supported PGM picture"));
    EXPECT_THAT(error_of("P2\n2 2\n9\n1 2\n3\n"), HasSubstr(":6: the file ends where pixel 1 of row 1 should be"));
    EXPECT_THAT(error_of("P2\n2 2\n9\n1 2\n3 x4\n"),
                HasSubstr(":5: pixel 1 of row 1 should be a whole number, but is \"x4\""));
    EXPECT_THAT(error_of("P2\n2 2\n9\n1 2\n3 -4\n"), HasSubstr("is \"-4\""));
    EXPECT_THAT(error_of("P2\n2 2\n9\n1 2.5\n3 4\n"), HasSubstr("is \"2.5\""));
    EXPECT_THAT(error_of("P2\n2 2\n9\n1 12\n3 4\n"),
                HasSubstr(":4: pixel 1 of row 0 is 12, more than the largest value, 9"));
    EXPECT_THAT(error_of("P2\n2 1\n9\n1 2 3\n"), HasSubstr(":4: there is data after the 2 pixels"));
    EXPECT_THAT(error_of("P2\n0 1\n9\n"), HasSubstr("0 x 1: it has no pixels"));
    EXPECT_THAT(error_of("P2\n2 1\n0\n0 0"), HasSubstr("the largest value is 0"));
    EXPECT_THAT(error_of("P2\n99999999 99999999\n9\n"), HasSubstr("at most 268435456 pixels"));
    EXPECT_THAT(error_of("P2\n99999999999999999999 1\n9\n"), HasSubstr("the width should be a whole number"));
    EXPECT_THAT(error_of("P2\n10000 10000\n9\n1"), HasSubstr("the file ends where pixel 1 of row 0 should be"));
    EXPECT_THROW(heat::PgmReader("no/such.pgm"), UsageError);
}

TEST(HeatPgm, PicturesOfADatasetMustHaveTheSameSize) {
    Dataset dataset = make_dataset(
        "pgm",
        {{"temperature", "stove_temperature.pgm"}, {"conductivity", "letter_conductivity.pgm"}, {"iterations", 1}});
    dataset.folder = root_folder() / "datasets/heat_dissipation";
    try {
        oracle().generate(dataset, 1, 0);
        FAIL() << "generate() accepted pictures of different sizes";
    } catch (const ManifestError& error) {
        EXPECT_THAT(error.what(), HasSubstr("128 x 96, conductivity one of 41 x 53"));
    }
}

// --- mistakes that no wrong submission contains ---

/// Return the cause that the judge would name for these outputs.
std::string cause_of(const Problem& problem, std::span<const double> cells, double iterations, double change,
                     const std::string& stage = "") {
    std::vector<Array> actual = problem.arrays;
    actual[field] = problem.arrays[field].clone();
    actual[result] = problem.arrays[result].clone();
    std::copy(cells.begin(), cells.end(), actual[field].as<double>().data());
    actual[result].as<double>()[0] = iterations;
    actual[result].as<double>()[1] = change;
    for (const Hypothesis& hypothesis : oracle().hypotheses({problem, problem.arrays, actual, nullptr, 0, stage})) {
        std::vector<Array> predicted = problem.arrays;
        for (const std::size_t buffer : {std::size_t{field}, std::size_t{result}})
            predicted[buffer] = problem.arrays[buffer].clone();
        if (!hypothesis.predict(predicted)) continue;
        bool fits = true;
        for (const std::size_t buffer : {std::size_t{field}, std::size_t{result}})
            for (std::size_t k = 0; k < predicted[buffer].count(); ++k)
                fits = fits && oracle().accepts(problem, buffer, k, std::as_const(predicted[buffer]).as<double>()[k],
                                                std::as_const(actual[buffer]).as<double>()[k]);
        if (fits) return hypothesis.cause;
    }
    return "unexplained";
}

/// Return the cause for the field of a changed problem after some iterations.
std::string cause_after(const Problem& problem, Problem changed, int iterations) {
    Plain plain(changed);
    double change = 0;
    for (int k = 0; k < iterations; ++k) change = plain.iterate();
    return cause_of(problem, plain.field, iterations, change);
}

TEST(HeatOracle, ExplainsMistakesInTheFormula) {
    const Problem problem = solve(oracle(), recipe("random", 20, 30, 5), 9);
    const auto with_conductivity = [&](auto&& value) {
        Problem changed = problem;
        changed.arrays[conductivity] = problem.arrays[conductivity].clone();
        const auto to = changed.arrays[conductivity].as<double>();
        for (std::size_t i = 0; i < 20; ++i)
            for (std::size_t j = 0; j < 30; ++j) to[i * 30 + j] = value(values(problem, conductivity), i, j);
        return cause_after(problem, changed, 5);
    };
    EXPECT_EQ(with_conductivity([](auto c, auto i, auto j) { return 1 - c[i * 30 + j]; }), "conductivity_inverted");
    EXPECT_EQ(with_conductivity([](auto, auto, auto) { return 0.0; }), "conductivity_ignored");
    EXPECT_EQ(with_conductivity([](auto c, auto, auto j) { return c[j]; }), "comma_index");
    EXPECT_EQ(with_conductivity([](auto c, auto i, auto j) { return c[j * 20 + i]; }), "transposed_index");
    EXPECT_EQ(with_conductivity([](auto c, auto i, auto j) { return c[std::min<std::size_t>(i * 32 + j, 599)]; }),
              "padded_index");
    EXPECT_EQ(with_conductivity([](auto c, auto i, auto j) { return c[(i ? i - 1 : 0) * 30 + j]; }),
              "other_conductivity");
    EXPECT_EQ(with_conductivity([](auto c, auto i, auto j) { return c[std::min<std::size_t>(i + 1, 19) * 30 + j]; }),
              "other_conductivity");
}

TEST(HeatOracle, ExplainsAWrongNumberOfIterations) {
    const Problem problem = solve(oracle(), recipe("discs", 20, 30, 100, {{"stop_after", 30}}), 9);
    const int iterations = static_cast<int>(values(problem, result)[0]);
    EXPECT_EQ(cause_after(problem, problem, iterations + 1), "stops_one_late");
    EXPECT_EQ(cause_after(problem, problem, iterations - 1), "one_iteration_missing");
    EXPECT_EQ(cause_after(problem, problem, 100), "never_converged");
    Plain before(problem);
    for (int k = 0; k < iterations - 1; ++k) before.iterate();
    EXPECT_EQ(cause_of(problem, before.field, iterations, values(problem, result)[1]), "buffers_not_swapped");
    Plain later(problem);
    for (int k = 0; k < iterations + 7; ++k) later.iterate();
    EXPECT_EQ(cause_of(problem, later.field, iterations, values(problem, result)[1]), "field_too_late");
    EXPECT_EQ(cause_of(problem, values(problem, field), -1, 0), "no_field");
    EXPECT_EQ(cause_of(problem, values(problem, field), iterations, values(problem, result)[1] / 2), "lost_maximum");
}

TEST(HeatOracle, ExplainsAWrongReportOnARightField) {
    const Problem problem = solve(oracle(), recipe("discs", 20, 30, 100, {{"stop_after", 30}}), 9);
    const double iterations = values(problem, result)[0], change = values(problem, result)[1];
    const auto cells = values(problem, field);
    EXPECT_EQ(cause_of(problem, cells, iterations - 1, change), "wrong_result");
    EXPECT_EQ(cause_of(problem, cells, iterations, 2 * change), "wrong_result");
    Plain earlier(problem);
    for (int k = 0; k < 10; ++k) earlier.iterate();
    EXPECT_EQ(cause_of(problem, earlier.field, 10, problem.reals[0] / 2), "lost_maximum");
    EXPECT_EQ(cause_of(problem, cells, iterations, static_cast<float>(change)), "truncated");
}

TEST(HeatOracle, ExplainsTheFieldOfAnotherIteration) {
    const Problem problem = solve(oracle(), recipe("random", 20, 30, 6), 9);
    const double change = values(problem, result)[1];
    const auto cause_of_field_after = [&](int iterations) {
        Plain plain(problem);
        for (int k = 0; k < iterations; ++k) plain.iterate();
        return cause_of(problem, plain.field, 6, change);
    };
    EXPECT_EQ(cause_of_field_after(0), "field_unchanged");
    for (const int early : {1, 2, 4}) EXPECT_EQ(cause_of_field_after(early), "field_too_early") << early;
    EXPECT_EQ(cause_of_field_after(5), "buffers_not_swapped");
    for (const int late : {7, 8, 14}) EXPECT_EQ(cause_of_field_after(late), "field_too_late") << late;
    EXPECT_EQ(cause_of_field_after(15), "unexplained");
}

TEST(HeatOracle, ExplainsAChangeThatIsNoCellsChange) {
    const Problem problem = solve(oracle(), recipe("discs", 20, 30, 100, {{"stop_after", 30}}), 9);
    const double iterations = values(problem, result)[0], right = values(problem, result)[1];
    const auto cause_of_change = [&](double change) {
        return cause_of(problem, values(problem, field), iterations, change);
    };
    Plain plain(problem);
    double earlier = 0;
    for (int k = 0; k < 20; ++k) earlier = plain.iterate();
    EXPECT_EQ(cause_of_change(earlier), "other_iteration");
    EXPECT_EQ(cause_of_change(0), "change_not_returned");
    EXPECT_EQ(cause_of_change(-1), "lost_maximum");
    const auto bits = std::bit_cast<std::uint64_t>(right);
    const auto half = static_cast<std::uint32_t>(bits);
    EXPECT_EQ(cause_of_change(std::bit_cast<float>(half + 7)), "truncated");
    EXPECT_EQ(cause_of_change(half), "truncated");
    EXPECT_EQ(cause_of_change(static_cast<std::int32_t>(half)), "truncated");
    EXPECT_EQ(cause_of_change(std::bit_cast<double>(std::uint64_t{half})), "truncated");
    EXPECT_NE(cause_of_change(std::bit_cast<float>(half ^ 0x10000000)), "truncated");
    const Problem halves = solve(oracle(), load_lab(root_folder(), "heat_dissipation").dataset("halves"), 1);
    EXPECT_NE(cause_of(halves, values(halves, field), 5, 1), "truncated");  // the last half of 16 is 0
}

/// The largest increase is reported as the largest change. If only few decreases are larger, the oracle assumes that
/// the reduction lost these.
TEST(HeatOracle, ExplainsAReductionThatIgnoresCoolingCells) {
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
        const Problem problem = solve(oracle(), recipe("random", 20, 30, 5), seed);
        Plain plain(problem);
        for (int k = 0; k < 4; ++k) plain.iterate();
        const std::vector<double> old = plain.field;
        plain.iterate();
        std::vector<double> changes(old.size());
        for (std::size_t k = 0; k < old.size(); ++k) changes[k] = plain.field[k] - old[k];
        const double warmest = std::ranges::max(changes);
        const auto cooler = std::ranges::count_if(changes, [&](double change) { return -change > warmest; });
        if (cooler == 0) continue;
        EXPECT_EQ(cause_of(problem, plain.field, 5, warmest), cooler >= 6 ? "change_with_sign" : "lost_maximum")
            << seed << ", " << cooler;
    }
}

TEST(HeatOracle, OnlyTheStagesWithTilesHaveTileEdges) {
    const Problem problem = solve(oracle(), recipe("random", 20, 100, 5), 9);
    const auto with_errors_in = [&](std::initializer_list<std::size_t> columns) {
        std::vector<double> cells(values(problem, field).begin(), values(problem, field).end());
        for (std::size_t i = 0; i < 20; ++i)
            for (const std::size_t j : columns) cells[i * 100 + j] += 1;
        return cells;
    };
    const auto all_edges = with_errors_in({31, 32, 63, 64, 95, 96});
    const double change = values(problem, result)[1];
    EXPECT_EQ(cause_of(problem, all_edges, 5, change, "07_two_steps_shared"), "tile_edge_wrong");
    EXPECT_EQ(cause_of(problem, all_edges, 5, change, "06_batched_checks"), "unexplained");
    EXPECT_EQ(cause_of(problem, with_errors_in({31, 32}), 5, change, "07_two_steps_shared"), "unexplained");
}

TEST(HeatOracle, DoesNotExplainScatteredErrors) {
    const Problem problem = solve(oracle(), recipe("random", 20, 30, 5), 9);
    std::vector<double> cells(values(problem, field).begin(), values(problem, field).end());
    for (const std::size_t k : {17, 100, 333}) cells[k] += 1;
    EXPECT_EQ(cause_of(problem, cells, 5, values(problem, result)[1]), "unexplained");
}

}  // namespace
}  // namespace warplab::test
