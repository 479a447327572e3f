#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "tests/labs/oracle_case.h"

namespace warplab::test {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t poison = 0x7ff80a0bu, beyond = 0x7ff81235u;
enum Buffer { pixels, bins };
using Counts = std::vector<std::uint32_t>;
using Pixels = std::vector<std::uint8_t>;

const Oracle& oracle() { return load_oracle("image_histogram"); }

Problem make_problem(const std::string& generator, std::size_t n, std::uint64_t seed = 7) {
    Parameters parameters = {{"n", whole(n)}};
    if (generator == "hot") parameters["values"] = 2;
    return solve(oracle(), make_dataset(generator, parameters), seed);
}

Counts answer(const Problem& problem) {
    const auto counts = problem.arrays[bins].as<std::uint32_t>();
    return {counts.begin(), counts.end()};
}

Pixels picture(const Problem& problem) {
    const auto bytes = problem.arrays[pixels].as<std::uint8_t>();
    return {bytes.begin(), bytes.end()};
}

std::optional<Hypothesis> explain_counts(const Problem& problem, const Counts& actual,
                                         const Problem* previous = nullptr) {
    Array array(ElementType::uint32, actual.size());
    std::copy(actual.begin(), actual.end(), array.as<std::uint32_t>().begin());
    return explain(oracle(), problem, bins, filled(ElementType::uint32, 256, poison), array, previous, beyond);
}

/// Count pixels; pixel i counts `times(i)` times.
Counts count_by(const Pixels& pixels, const std::function<std::uint32_t(std::size_t i)>& times) {
    Counts counts(256);
    for (std::size_t i = 0; i < pixels.size(); ++i) counts[pixels[i]] += times(i);
    return counts;
}

Counts count(const Pixels& pixels) {
    return count_by(pixels, [](std::size_t) { return 1; });
}

TEST(ImageHistogramOracle, ReferencesAgree) {
    for (const char* generator : {"random", "constant", "walk", "gap", "hot"})
        for (const std::size_t n : {0, 1, 7, 10007, 200001}) {
            Problem problem = make_problem(generator, n);
            const Counts sequential = answer(problem);
            oracle().reference(problem, Execution::openmp);
            EXPECT_EQ(answer(problem), sequential) << generator << " " << n;
            EXPECT_EQ(sequential, count(picture(problem))) << generator << " " << n;
        }
}

TEST(ImageHistogramOracle, GeneratorsMakeTheDescribedPictures) {
    EXPECT_EQ(answer(make_problem("constant", 1000))[0], 1000u);
    const Counts gap = answer(make_problem("gap", 100000)), any = answer(make_problem("random", 100000));
    EXPECT_EQ(std::count(gap.begin(), gap.end(), 0u), 1);
    EXPECT_EQ(std::count(any.begin(), any.end(), 0u), 0);
    const Counts hot = answer(make_problem("hot", 100000));
    EXPECT_EQ(std::count_if(hot.begin(), hot.end(), [](std::uint32_t c) { return c > 40000; }), 2);
    const Pixels walk = picture(make_problem("walk", 60000));
    for (std::size_t i = 1; i < walk.size(); ++i) ASSERT_LE(std::abs(walk[i] - walk[i - 1]), 4) << i;
    EXPECT_NE(picture(make_problem("random", 1000, 1)), picture(make_problem("random", 1000, 2)));
}

TEST(ImageHistogramOracle, APoolIsLongerButOnlyTheCallsPixelsAreCounted) {
    Problem pool = oracle().generate(make_dataset("random", {{"n", 1000}}), 7, 4096);
    EXPECT_EQ(pool.arrays[pixels].count(), 5096u);
    pool.arrays[pixels] = pool.arrays[pixels].part(400, 1000);
    oracle().reference(pool, Execution::sequential);
    EXPECT_EQ(answer(pool), count(picture(pool)));
}

TEST(ImageHistogramOracle, RefusesInvalidRecipes) {
    const auto generate = [](const std::string& generator, Parameters parameters) {
        return oracle().generate(make_dataset(generator, std::move(parameters)), 7, 0);
    };
    EXPECT_THROW(generate("random", {{"n", -1}}), ManifestError);
    EXPECT_THROW(generate("random", {{"n", std::int64_t{1} << 32}}), ManifestError);
    EXPECT_THROW(generate("radnom", {{"n", 10}}), ManifestError);
    EXPECT_THROW(generate("constant", {{"n", 10}, {"value", 256}}), ManifestError);
    EXPECT_THROW(generate("hot", {{"n", 10}, {"values", 0}}), ManifestError);
    EXPECT_THROW(generate("walk", {{"n", 10}, {"value", 1}}), ManifestError);
}

/// A mistake, and the bins that a kernel with this mistake computes from a picture of n pixels.
struct Mistake {
    std::string name, generator;
    std::size_t n;
    std::function<Counts(const Pixels& pixels)> run;
    std::string cause, message;
};
void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.name; }

class ImageHistogramMistake : public testing::TestWithParam<Mistake> {};

TEST_P(ImageHistogramMistake, IsExplained) {
    const Mistake& mistake = GetParam();
    const Problem problem = make_problem(mistake.generator, mistake.n);
    const auto hypothesis = explain_counts(problem, mistake.run(picture(problem)));
    ASSERT_TRUE(hypothesis);
    EXPECT_EQ(hypothesis->cause, mistake.cause) << hypothesis->message;
    EXPECT_THAT(hypothesis->message + " " + hypothesis->hint, HasSubstr(mistake.message));
}

auto where(std::function<bool(std::size_t i)> counts) {
    return [counts](const Pixels& pixels) { return count_by(pixels, counts); };
}

/// Return a function that gives the right counts, each changed by `change`.
auto changed(std::function<std::uint32_t(std::size_t v, std::uint32_t count)> change) {
    return [change](const Pixels& pixels) {
        Counts counts = count(pixels);
        for (std::size_t v = 0; v < counts.size(); ++v) counts[v] = change(v, counts[v]);
        return counts;
    };
}

auto mapped(std::function<std::uint8_t(std::uint8_t)> value) {
    return [value](Pixels pixels) {
        for (std::uint8_t& pixel : pixels) pixel = value(pixel);
        return count(pixels);
    };
}

INSTANTIATE_TEST_SUITE_P(
    All, ImageHistogramMistake,
    testing::Values(
        Mistake{"NotCleared", "random", 10007, changed([](auto, auto c) { return c + poison; }), "not_cleared",
                "what it held before the call"},
        Mistake{"ClearedBytes", "random", 10007, changed([](auto v, auto c) { return v < 64 ? c : c + poison; }),
                "not_cleared", "cudaMemset counts bytes"},
        Mistake{"LastBinNotCleared", "random", 10007, changed([](auto v, auto c) { return v < 255 ? c : c + poison; }),
                "not_cleared", "Only the first 255 bins were set to 0"},
        Mistake{"HalfNotWritten", "walk", 10007, changed([](auto v, auto c) { return v < 128 ? c : poison; }),
                "bins_missing", "The bins from 128 on are never written"},
        Mistake{"LastBinZero", "random", 10007, changed([](auto v, auto c) { return v < 255 ? c : 0; }),
                "bins_missing", "the last one is 255"},
        Mistake{"ZerosNotWritten", "gap", 10007, changed([](auto, auto c) { return c ? c : poison; }), "bins_missing",
                "values that do not occur"},
        Mistake{"BlocksRoundedDown", "random", 100000, where([](std::size_t i) { return i < 99840; }), "tail_lost",
                "99,840 = 390 x 256"},
        Mistake{"VectorsOnly", "random", 100013, where([](std::size_t i) { return i < 100012; }), "vector_tail_lost",
                "25,003 whole vectors of four. The 1 after them is lost"},
        Mistake{"VectorsOf16Only", "random", 100013, where([](std::size_t i) { return i < 100000; }),
                "vector_tail_lost", "6,250 whole vectors of 16. The 13 after them are lost"},
        Mistake{"LastPixel", "random", 100000, where([](std::size_t i) { return i != 99999; }), "last_pixel_lost", ""},
        Mistake{"Nothing", "random", 1000, where([](std::size_t) { return false; }), "nothing_counted",
                "All bins are 0"},
        Mistake{"FirstBlock", "random", 100000, where([](std::size_t i) { return i < 256; }), "one_block_only", ""},
        Mistake{"FixedGrid", "random", 100000, where([](std::size_t i) { return i < 33792; }), "grid_too_small",
                "first 33,792 of 100,000"},
        Mistake{"ZeroedMeanwhile", "random", 100000, where([](std::size_t i) { return i >= 40000; }), "first_lost",
                "__syncthreads() waits for the threads of one block only"},
        Mistake{"PastTheEnd", "random", 100000,
                [](const Pixels& p) {
                    Pixels more = p;
                    for (std::size_t i = p.size(); i < 100096; ++i)
                        more.push_back(static_cast<std::uint8_t>(beyond >> (i % 4 * 8)));
                    return count(more);
                },
                "read_past_end", "96 bytes from beyond the end are counted"},
        Mistake{"TailTwice", "random", 100003,
                [](const Pixels& p) { return count_by(p, [](std::size_t i) { return i < 100000 ? 1 : 2; }); },
                "tail_twice", "The last 3 pixels"},
        Mistake{"EveryBlockCountsAll", "walk", 10007, changed([](auto, auto c) { return 32 * c; }),
                "counted_repeatedly", "32 times"},
        Mistake{"BlockIndexForgotten", "random", 10007,
                [](const Pixels& p) { return count_by(p, [](std::size_t i) { return i < 256 ? 40 : 0; }); },
                "block_index_forgotten", "The first 256 pixels are counted 40 times"},
        Mistake{"NoBlockSize", "random", 100003,
                [](const Pixels& p) {
                    return count_by(p, [](std::size_t i) {  // 391 blocks of 256 threads
                        return i < 646 ? std::min<std::size_t>({i + 1, 646 - i, 256}) : 0;
                    });
                },
                "block_size_forgotten", "Only the first 646 pixels"},
        Mistake{"StepOfOneBlock", "random", 100003,
                [](const Pixels& p) {
                    return count_by(p, [](std::size_t i) { return std::min<std::size_t>(i / 256 + 1, 32); });
                },
                "counted_too_often", "up to 32 times"},
        Mistake{"ByPosition", "random", 100003,
                [](const Pixels& p) {
                    Counts counts(256);
                    for (std::size_t i = 0; i < p.size(); ++i) ++counts[i % 256];
                    return counts;
                },
                "indexed_by_position", "whatever their values"},
        Mistake{"OneTooHigh", "random", 10007, mapped([](std::uint8_t v) { return v + 1; }), "wrong_bin", "too high"},
        Mistake{"Signed", "random", 10007, mapped([](std::uint8_t v) { return v ^ 128; }), "wrong_bin", "signed"},
        Mistake{"SevenBits", "random", 10007, mapped([](std::uint8_t v) { return v & 127; }), "wrong_bin",
                "seven bits"},
        Mistake{"OnlyFirstByte", "random", 10007, where([](std::size_t i) { return i % 4 == 0 || i >= 10004; }),
                "bytes_lost", "Of every 4 pixels only the first is counted"},
        Mistake{"FourthWordLost", "random", 10007, where([](std::size_t i) { return i % 16 < 12 || i >= 10000; }),
                "bytes_lost", "Of every 16 pixels numbers 12 to 15 (from 0) are not counted"},
        Mistake{"ByteTwice", "random", 10007,
                [](const Pixels& p) {
                    return count_by(
                        p, [](std::size_t i) { return i >= 10004 ? 1 : i % 4 == 2 ? 2 : i % 4 == 3 ? 0 : 1; });
                },
                "bytes_lost", "the third is counted twice, and the fourth not at all"},
        Mistake{"ByteFromAnotherBit", "random", 10007,
                [](const Pixels& p) {
                    Counts counts(256);
                    for (std::size_t i = 0; i < p.size(); ++i)
                        ++counts[i % 4 == 3 ? (p[i] << 1 | p[i - 1] >> 7) & 255 : p[i]];
                    return counts;
                },
                "bytes_lost", "its value is taken from bit 23 of the word on, not from bit 24."},
        Mistake{"BlocksAddOne", "random", 10007, changed([](auto, auto) { return 32u; }), "value_added",
                "Every bin holds 32, whatever the picture."},
        Mistake{"ValueAtPosition", "random", 10007,
                [](const Pixels& p) {
                    Counts counts(256);
                    for (std::size_t i = 0; i < p.size(); ++i) counts[i % 256] += p[i];
                    return counts;
                },
                "value_added", "counts for 10,007 pixels: that is the sum of all pixels' values."},
        Mistake{"Saturated", "walk", 100000, changed([](auto, auto c) { return std::min(c, 255u); }),
                "counter_overflow", "Counts end at 255"},
        Mistake{"EightBitsEach", "walk", 100000,
                changed([](auto v, auto c) {
                    return c < 256 * (v % 3) ? c : c - 256 * static_cast<std::uint32_t>(v % 3);
                }),
                "counter_overflow", "by a multiple of 256"},
        Mistake{"EightBitsBlack", "constant", 100000, changed([](auto, auto c) { return c % 4096; }),
                "counter_overflow", "by a multiple of 256"},
        Mistake{"PackedHalves", "constant", 4300009,
                changed([](auto v, auto c) { return v == 0 ? c - 64 * 65536 : v == 1 ? 64 : c; }), "counter_overflow",
                "1 bin is short by a multiple of 65,536, and the next bin has 1 too many for each"},
        Mistake{"StrideTooLong", "random", 100003, where([](std::size_t i) { return i % 16384 < 8192; }),
                "stride_too_long", "Of every 16,384 pixels only the first 8,192"},
        Mistake{"OneBlocksShare", "random", 100003, where([](std::size_t i) { return i / 256 == 137; }),
                "one_block_only", "block 137 of 391, 256 pixels"},
        Mistake{"MiddlePartialLost", "random", 100003, where([](std::size_t i) { return i / 256 % 33 != 32; }),
                "one_block_lost", "block 32 of 33"},
        Mistake{"OddPartialsLost", "random", 100003,
                where([](std::size_t i) {
                    const std::size_t k = i / 256 % 27;
                    return k < 26 && k % 13 < 12 && k % 13 % 3 < 2;
                }),
                "partials_lost", "When 27 partial bins were left"},
        Mistake{"SharedNotCleared", "random", 10007, changed([](auto, auto c) { return c + 123456u; }),
                "shared_not_cleared", "123,456"},
        Mistake{"HalfOfSharedNotCleared", "random", 10007,
                changed([](auto v, auto c) { return v < 128 ? c : c + 99u; }),
                "shared_not_cleared", "The bins from 128 on"},
        Mistake{"Lost", "random", 100003, where([](std::size_t i) { return i * i % 1009 > 5; }), "lost_counts",
                "Use atomicAdd"},
        Mistake{"Surplus", "random", 100003,
                [](const Pixels& p) { return count_by(p, [](std::size_t i) { return i * i % 1009 > 5 ? 1 : 2; }); },
                "counted_too_often", "none too few"}),
    [](const auto& info) { return info.param.name; });

TEST(ImageHistogramOracle, ExplainsResultsOfThePreviousCall) {
    const Problem previous = make_problem("random", 1000, 1), problem = make_problem("random", 1000, 2);
    Counts sums = answer(problem);
    for (std::size_t v = 0; v < sums.size(); ++v) sums[v] += answer(previous)[v];
    EXPECT_EQ(explain_counts(problem, sums, &previous)->cause, "not_cleared");
    EXPECT_EQ(explain_counts(problem, answer(previous), &previous)->cause, "stale_result");
}

TEST(ImageHistogramOracle, ExplainsAnEmptyPictureThatIsNotWritten) {
    EXPECT_EQ(explain_counts(make_problem("random", 0), Counts(256, poison))->cause, "empty_not_written");
}

TEST(ImageHistogramOracle, DoesNotExplainBinsThatAreNeverWritten) {
    const Problem problem = make_problem("random", 1000);
    Counts wrong = answer(problem);
    for (std::size_t v = 3; v < wrong.size(); v += 7) wrong[v] = poison;
    EXPECT_FALSE(explain_counts(problem, wrong));
}

TEST(ImageHistogramOracle, DoesNotExplainArbitraryCounts) {
    for (const std::size_t n : {256, 1000, 100000}) {
        const Problem problem = make_problem("random", n);
        Counts wrong = answer(problem);
        for (std::size_t v = 0; v < wrong.size(); ++v) wrong[v] ^= 3 + 8 * (v % 5);
        EXPECT_FALSE(explain_counts(problem, wrong)) << n;
    }
}

}  // namespace
}  // namespace warplab::test
