#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <ostream>
#include <random>

#include "tests/labs/oracle_case.h"

namespace warplab::test {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t poison = 0x7ff80a0bu;
enum Buffer { image, out };

const Oracle& oracle() { return load_oracle("smoothing_filter"); }

Dataset dataset(std::size_t width, std::size_t height, const std::string& filter = "rings", std::size_t size = 5,
                const std::string& generator = "random") {
    return make_dataset(
        generator,
        {{"width", whole(width)}, {"height", whole(height)}, {"filter", filter}, {"filter_size", whole(size)}});
}

Problem make_problem(std::size_t width, std::size_t height, const std::string& filter = "rings", std::size_t size = 5,
                     const std::string& generator = "random") {
    return solve(oracle(), dataset(width, height, filter, size, generator), 7);
}

std::size_t size_of(const Problem& problem) {
    return static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(problem.reals.size()))));
}

/// Return the product of weight (r, c) and its pixel in the sum of output pixel (x, y).
double product(const Problem& problem, std::size_t x, std::size_t y, std::size_t r, std::size_t c) {
    const std::size_t size = size_of(problem), pitch = static_cast<std::size_t>(problem.sizes[0]) + size - 1;
    return problem.reals[r * size + c] *
           static_cast<double>(problem.arrays[image].as<float>()[(y + r) * pitch + x + c]);
}

struct Sums {
    double value = 0, magnitude = 0;
};

Sums exact(const Problem& problem, std::size_t i) {
    const auto width = static_cast<std::size_t>(problem.sizes[0]);
    Sums sums;
    for (std::size_t r = 0; r < size_of(problem); ++r)
        for (std::size_t c = 0; c < size_of(problem); ++c) {
            const double term = product(problem, i % width, i / width, r, c);
            sums.value += term;
            sums.magnitude += std::abs(term);
        }
    return sums;
}

TEST(SmoothingFilterOracle, ReferencesAreWithinTheirShareOfTheBound) {
    for (const std::size_t size : {1, 3, 5, 7, 9, 11, 13, 15})
        for (const char* filter : {"rings", "any", "signed"}) {
            Problem problem = make_problem(37, 23, filter, size, "signed");
            const Array sequential = problem.arrays[out].clone();
            oracle().reference(problem, Execution::openmp);
            EXPECT_EQ(std::memcmp(sequential.data(), problem.arrays[out].data(), sequential.bytes()), 0);
            const double n = static_cast<double>(size * size), bound = n * 0x1p-24 / (1 - n * 0x1p-24);
            for (std::size_t i = 0; i < sequential.count(); ++i) {
                const Sums sums = exact(problem, i);
                ASSERT_NEAR(sequential.as<float>()[i], sums.value, bound * sums.magnitude) << size << filter << i;
            }
        }
}

TEST(SmoothingFilterOracle, TheDefaultWeightsEqualTheCoursesWeights) {
    const Problem problem = make_problem(1, 1);
    ASSERT_EQ(problem.reals.size(), 25u);
    for (std::size_t i = 0; i < 25; ++i) {
        const std::size_t r = i / 5, c = i % 5, weight = 1 + std::min({r, c, 4 - r, 4 - c});
        EXPECT_EQ(problem.reals[i], static_cast<float>(static_cast<double>(weight) / 35));
    }
}

TEST(SmoothingFilterOracle, WeightsAreTheSameInEachCall) {
    const Dataset any = dataset(9, 9, "any");
    EXPECT_EQ(oracle().generate(any, 1, 0).reals, oracle().generate(any, 2, 0).reals);
    Dataset other = any;
    other.seed = 5;
    EXPECT_NE(oracle().generate(any, 1, 0).reals, oracle().generate(other, 1, 0).reals);
}

TEST(SmoothingFilterOracle, SumsInAnyOrderAreAccepted) {
    std::mt19937 random(3);
    for (const char* filter : {"rings", "signed"}) {
        const Problem problem = make_problem(61, 47, filter, 5, filter[0] == 's' ? "signed" : "random");
        std::vector<std::size_t> order(25);
        for (std::size_t k = 0; k < 25; ++k) order[k] = k;
        for (std::size_t i = 0; i < problem.arrays[out].count(); ++i) {
            std::shuffle(order.begin(), order.end(), random);
            float rounded = 0, fused = 0;
            const std::size_t x = i % 61, y = i / 61;
            for (const std::size_t k : order) {
                const auto weight = static_cast<float>(problem.reals[k]);
                const float pixel = problem.arrays[image].as<float>()[(y + k / 5) * 65 + x + k % 5];
                const volatile float term = weight * pixel;
                rounded += term;
                fused = std::fma(weight, pixel, fused);
            }
            const float expected = problem.arrays[out].as<float>()[i];
            ASSERT_TRUE(oracle().accepts(problem, out, i, expected, rounded)) << filter << i;
            ASSERT_TRUE(oracle().accepts(problem, out, i, expected, fused)) << filter << i;
        }
    }
}

TEST(SmoothingFilterOracle, ErrorsLargerThanRoundingAreRefused) {
    const Problem problem = make_problem(61, 47);
    for (std::size_t i = 0; i < problem.arrays[out].count(); ++i) {
        const double expected = problem.arrays[out].as<float>()[i];
        ASSERT_TRUE(oracle().accepts(problem, out, i, expected, expected * (1 + 2e-6)));
        ASSERT_FALSE(oracle().accepts(problem, out, i, expected, expected * (1 + 4e-6)));
        // The smallest product is lost.
        ASSERT_FALSE(oracle().accepts(problem, out, i, expected, expected - product(problem, i % 61, i / 61, 0, 0)));
        ASSERT_FALSE(oracle().accepts(problem, out, i, expected, std::nan("")));
    }
}

TEST(SmoothingFilterOracle, PoolsAreLongerAndPartsCanBeComputed) {
    const Problem pool = oracle().generate(dataset(40, 30), 3, 64);
    EXPECT_EQ(pool.arrays[image].count(), 44u * 34 + 64);
    EXPECT_EQ(pool.arrays[out].count(), 1200u);
    Problem window = pool;
    window.arrays[image] = pool.arrays[image].part(4, 44 * 34);
    oracle().reference(window, Execution::sequential);
    for (const std::size_t first : {0, 1, 39, 40, 555, 1100}) {
        Array part(ElementType::float32, 100);
        ASSERT_TRUE(oracle().reference_part(window, out, first, 100, part));
        EXPECT_EQ(std::memcmp(part.data(), window.arrays[out].part(first, 100).data(), part.bytes()), 0) << first;
    }
}

TEST(SmoothingFilterOracle, RefusesInvalidRecipes) {
    const auto generate = [](Parameters parameters, const std::string& generator = "random") {
        return oracle().generate(make_dataset(generator, std::move(parameters)), 1, 0);
    };
    EXPECT_NO_THROW(generate({{"width", 1}, {"height", 1}}));
    EXPECT_THROW(generate({{"width", 1}}), ManifestError);
    EXPECT_THROW(generate({{"width", 0}, {"height", 1}}), ManifestError);
    EXPECT_THROW(generate({{"width", 1}, {"height", 1}, {"depth", 1}}), ManifestError);
    EXPECT_THROW(generate({{"width", 1}, {"height", 1}, {"filter", "round"}}), ManifestError);
    EXPECT_THROW(generate({{"width", 1}, {"height", 1}, {"filter_size", 4}}), ManifestError);
    EXPECT_THROW(generate({{"width", 1}, {"height", 1}, {"filter_size", 17}}), ManifestError);
    EXPECT_THROW(generate({{"width", 1}, {"height", 1}}, "radnom"), ManifestError);
    EXPECT_THROW(generate({{"file", "no such.png"}}, "picture"), UsageError);
}

TEST(SmoothingFilterOracle, UniformPicturesStayUniform) {
    const Problem problem = make_problem(20, 10, "any", 5, "flat");
    const float grey = problem.arrays[image].as<float>()[0];
    for (const float pixel : problem.arrays[out].as<float>()) EXPECT_NEAR(pixel, grey, 1e-3);
}

/// A mistake, and the contents of `out` after a kernel with this mistake. Before the call, `out` contains poison.
struct Mistake {
    std::string name;
    std::function<float(const Problem& problem, std::int64_t x, std::int64_t y)> pixel;
    std::string cause, message;
    std::size_t width = 53, height = 41;
    std::string filter = "any";
};
void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.name; }

class SmoothingFilterMistake : public testing::TestWithParam<Mistake> {};

TEST_P(SmoothingFilterMistake, IsExplained) {
    const Mistake& mistake = GetParam();
    const Problem problem = make_problem(mistake.width, mistake.height, mistake.filter);
    const Array before = filled(ElementType::float32, problem.arrays[out].count(), poison);
    Array actual = before.clone();
    for (std::size_t i = 0; i < actual.count(); ++i)
        actual.as<float>()[i] = mistake.pixel(problem, static_cast<std::int64_t>(i % mistake.width),
                                              static_cast<std::int64_t>(i / mistake.width));
    std::string cause, message;
    std::vector<Array> arrays_before = problem.arrays, arrays_after = problem.arrays;
    arrays_before[out] = before;
    arrays_after[out] = actual;
    for (const Hypothesis& hypothesis : oracle().hypotheses({problem, arrays_before, arrays_after, nullptr, poison})) {
        std::vector<Array> predicted = problem.arrays;
        predicted[out] = problem.arrays[out].clone();
        ASSERT_TRUE(hypothesis.predict(predicted));
        if (!cause.empty()) continue;
        cause = hypothesis.cause;
        message = hypothesis.message;
        for (std::size_t i = 0; i < actual.count(); ++i) {
            const float expected = predicted[out].as<float>()[i], value = actual.as<float>()[i];
            ASSERT_TRUE(std::isnan(expected) ? std::isnan(value) : oracle().accepts(problem, out, i, expected, value))
                << i;
        }
    }
    EXPECT_EQ(cause, mistake.cause);
    EXPECT_THAT(message, HasSubstr(mistake.message));
}

using Places =
    std::function<std::int64_t(std::int64_t x, std::int64_t y, std::int64_t r, std::int64_t c, std::int64_t pitch)>;

/// Return a pixel function that reads the image at `place`. A place outside the image gives NaN.
auto reads(Places place, std::int64_t rows = 5, std::int64_t columns = 5) {
    return [=](const Problem& problem, std::int64_t x, std::int64_t y) {
        const auto pixels = problem.arrays[image].as<float>();
        float sum = 0;
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < columns; ++c) {
                const auto at = place(x, y, r, c, problem.sizes[0] + 4);
                const bool is_inside = at >= 0 && at < static_cast<std::int64_t>(pixels.size());
                sum += static_cast<float>(problem.reals[static_cast<std::size_t>(r * 5 + c)]) *
                       (is_inside ? pixels[static_cast<std::size_t>(at)] : std::nanf(""));
            }
        return sum;
    };
}

/// Return the right value of output pixel (x, y).
float right(const Problem& problem, std::int64_t x, std::int64_t y) {
    return problem.arrays[out].as<float>()[static_cast<std::size_t>(y * problem.sizes[0] + x)];
}

/// Return a pixel function that gives the right output, except where `is_wrong` is true in a block of 16 x 16.
auto wrong_if(std::function<bool(std::int64_t i, std::int64_t j)> is_wrong) {
    return [=](const Problem& problem, std::int64_t x, std::int64_t y) {
        const float value = right(problem, x, y);
        return is_wrong(y % 16, x % 16) ? value * 0.5f - static_cast<float>(x) : value;
    };
}

const auto window = [](auto x, auto y, auto r, auto c, auto pitch) { return (y + r) * pitch + x + c; };

INSTANTIATE_TEST_SUITE_P(
    All, SmoothingFilterMistake,
    testing::Values(
        Mistake{"LoopToFour", reads(window, 4, 4), "taps_lost",
                "of its rows, all but the last; of its columns, all but the last"},
        Mistake{"LastRowLost", reads(window, 4, 5), "taps_lost", "of its rows, all but the last; of its columns, all"},
        Mistake{"ImageTransposed",
                reads([](auto x, auto y, auto r, auto c, auto pitch) { return (x + c) * pitch + y + r; }), "transposed",
                "rows and columns exchanged"},
        Mistake{"ShiftedRight",
                reads([](auto x, auto y, auto r, auto c, auto pitch) { return (y + r) * pitch + x + c + 1; }),
                "halo_shifted", "1 column too far to the right"},
        Mistake{"ShiftedUp",
                reads([](auto x, auto y, auto r, auto c, auto pitch) { return (y + r - 2) * pitch + x + c; }),
                "halo_shifted", "2 rows too far up"},
        Mistake{"OutputsPitch",
                reads([](auto x, auto y, auto r, auto c, auto pitch) { return (y + r) * (pitch - 4) + x + c; }),
                "wrong_pitch", "53 pixels apart; they are 57 apart"},
        Mistake{"PitchOneTooLong",
                reads([](auto x, auto y, auto r, auto c, auto pitch) { return (y + r) * (pitch + 1) + x + c; }),
                "wrong_pitch", "58 pixels apart; they are 57 apart, width + 4."},
        Mistake{"RowForgotten", reads([](auto x, auto, auto r, auto c, auto pitch) { return r * pitch + x + c; }),
                "row_forgotten", "does not depend on y"},
        Mistake{"BlockForgotten",
                reads([](auto x, auto y, auto r, auto c, auto pitch) { return (y % 16 + r) * pitch + x % 16 + c; }),
                "block_index_forgotten", "Every block of 16 x 16"},
        Mistake{"FilterTransposed",
                [](const Problem& problem, std::int64_t x, std::int64_t y) {
                    Problem changed = problem;
                    for (std::size_t k = 0; k < 25; ++k) changed.reals[k] = problem.reals[k % 5 * 5 + k / 5];
                    return static_cast<float>(exact(changed, static_cast<std::size_t>(y * 53 + x)).value);
                },
                "filter_transposed", "exchanged"},
        Mistake{"DividedAgain", [](const Problem& p, std::int64_t x, std::int64_t y) { return right(p, x, y) / 35; },
                "not_normalised", "the right one divided by 35"},
        Mistake{"CutToInt", [](const Problem& p, std::int64_t x, std::int64_t y) { return std::trunc(right(p, x, y)); },
                "truncated", "whole number"},
        Mistake{"AddedUpInAnInt",
                [](const Problem& p, std::int64_t x, std::int64_t y) { return std::trunc(right(p, x, y)) - 9; },
                "truncated", "Every pixel is a whole number"},
        Mistake{"OneRowOfThreads",
                [](const Problem& p, std::int64_t x, std::int64_t y) {
                    return y % 16 ? std::bit_cast<float>(poison) : right(p, x, y);
                },
                "rows_left_out", "Of every 16 rows only the first is written"},
        Mistake{"StripCutOff",
                [](const Problem& p, std::int64_t x, std::int64_t y) {
                    return y % 8 < 4 ? right(p, x, y) : std::bit_cast<float>(poison);
                },
                "strip_cut_off", "Of every 8 rows only the first 4 are written"},
        Mistake{"RingOverwritten", reads([](auto x, auto y, auto r, auto c, auto pitch) {
                    const auto top = y / 12 * 12, row = y % 12 + r, last = std::min<std::int64_t>(12, 41 - top) + 3;
                    return (top + (row + 2 < 16 ? std::min(row + 2, last) : row)) * pitch + x + c;
                }),
                "ring_overwritten", "2 steps too early: in place of row r, row r + 2 is added, in strips of 12 rows"},
        Mistake{"RimOfOut",
                [](const Problem& p, std::int64_t x, std::int64_t y) {
                    const std::int64_t i = y * 53 + x;
                    return i % 57 < 53 ? right(p, i % 57, i / 57) : std::bit_cast<float>(poison);
                },
                "wrong_pitch", "57 pixels apart, as those of image; they are 53 apart"},
        Mistake{"BlocksOverlap",
                [](const Problem& p, std::int64_t x, std::int64_t y) {
                    return y < 40 ? right(p, x, y) : std::bit_cast<float>(poison);
                },
                "blocks_overlap", "blocks began 8 rows apart, with 32 rows each"},
        Mistake{"RowsOfThreadsOverlap", reads([](auto x, auto y, auto r, auto c, auto pitch) {
                    return (y / 32 * 32 + y % 32 / 4 + y % 4 + r) * pitch + x + c;
                }),
                "thread_rows_overlap", "in blocks of 8 rows of threads"},
        Mistake{"EdgeCutOff",
                [](const Problem& p, std::int64_t x, std::int64_t y) { return right(p, x, y) / (x < 49 ? 1 : 2); },
                "edge_cut_off", "Only the last 4 columns of out are wrong"},
        Mistake{"NotFiltered",
                [](const Problem& problem, std::int64_t x,
                   std::int64_t
                       y) { return problem.arrays[image].as<float>()[static_cast<std::size_t>((y + 2) * 57 + x + 2)]; },
                "not_filtered", "image itself"},
        Mistake{"NoHalo", wrong_if([](auto i, auto j) { return i < 2 || i >= 14 || j < 2 || j >= 14; }), "halo_missing",
                "the rows above, the rows below, the columns on the left and the columns on the right"},
        Mistake{"NoCorners", wrong_if([](auto i, auto j) { return (i < 2 || i >= 14) && (j < 2 || j >= 14); }),
                "corner_missing",
                "the upper left corner, the upper right corner, the lower left corner and the lower right corner"},
        Mistake{"NoLowerCorner", wrong_if([](auto i, auto j) { return i >= 12 && j >= 12; }), "corner_missing",
                "the lower right corner of the halo is never loaded"},
        Mistake{"OneLoadEach", wrong_if([](auto i, auto j) { return (i + 4) * 20 + j + 4 >= 256; }), "tile_incomplete",
                "only the first 256 are loaded"}),
    [](const auto& info) { return info.param.name; });

TEST(SmoothingFilterOracle, ExplainsResultsKeptFromThePreviousCall) {
    const Problem previous = solve(oracle(), dataset(30, 20), 1), problem = solve(oracle(), dataset(30, 20), 2);
    const auto first_cause = [&](const Array& actual) {
        std::vector<Array> arrays_before = problem.arrays, arrays_after = problem.arrays;
        arrays_before[out] = previous.arrays[out];
        arrays_after[out] = actual;
        const auto hypotheses = oracle().hypotheses({problem, arrays_before, arrays_after, &previous, poison});
        return hypotheses.empty() ? "" : hypotheses.front().cause;
    };
    Array added = problem.arrays[out].clone();
    for (std::size_t i = 0; i < added.count(); ++i) added.as<float>()[i] += previous.arrays[out].as<float>()[i];
    EXPECT_EQ(first_cause(added), "added_to_garbage");
    EXPECT_EQ(first_cause(problem.arrays[out]), "");
}

TEST(SmoothingFilterOracle, DoesNotExplainScatteredErrors) {
    const Problem problem = make_problem(53, 41);
    Array actual = problem.arrays[out].clone();
    for (const std::size_t i : {17, 100, 333, 1712}) actual.as<float>()[i] += 1;
    EXPECT_FALSE(explain(oracle(), problem, out, filled(ElementType::float32, actual.count(), poison), actual));
}

}  // namespace
}  // namespace warplab::test
