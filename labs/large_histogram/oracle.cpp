#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>

#include "grader/common/text.h"
#include "grader/judge/lab/census.h"
#include "grader/judge/lab/explain.h"
#include "grader/model/recipe.h"

namespace warplab {
namespace {

enum Buffer { values, bins };

constexpr unsigned soft_cap = 127;
constexpr std::size_t timed_values = 1 << 20;  // values per histogram in the benchmark

struct Shape {
    std::size_t histograms, n, columns, rows;
    std::size_t bins() const { return columns * rows; }
};

Shape shape_of(const Problem& problem) {
    const auto size = [&](std::size_t index) { return static_cast<std::size_t>(problem.sizes[index]); };
    return {size(0), size(1), size(2), size(3)};
}

// --- generators ---

/// Return a number between 0 and 1, excluding both.
double unit(std::uint64_t bits) { return (static_cast<int>(bits >> 41) + 0.5) * 0x1p-23; }

std::uint32_t clamp_to(double value, std::size_t size) {
    return static_cast<std::uint32_t>(std::clamp(value, 0.0, static_cast<double>(size - 1)));
}

/// The input from which a generator makes one histogram's values.
struct Recipe {
    const Dataset& dataset;
    Shape shape;
    std::uint64_t seed;
    std::size_t histogram;

    double number(const char* name) const {
        const double bins = read_number(dataset, name);
        if (bins < 0) throw recipe_error(dataset, fmt::format("\"{}\" is a number of bins, 0 or more", name));
        return bins;
    }
    std::uint32_t bin(std::size_t x, std::size_t y) const { return static_cast<std::uint32_t>(y * shape.columns + x); }
};

/// Return a position from one to four fifths of the length, different for each histogram.
double centre_of(const Recipe& recipe, std::uint64_t stream, std::size_t size) {
    return static_cast<double>(size) * (0.2 + 0.6 * unit(random_bits(recipe.seed, stream, recipe.histogram)));
}

/// Writes values of a histogram; `first` is the index of the first one among the values of all histograms.
using Fill = std::function<void(std::size_t first, std::span<std::uint32_t> values)>;

/// Return a generator that computes each value from its index.
template <class ValueAt>
Fill fill_each(ValueAt value_at) {
    return [=](std::size_t first, std::span<std::uint32_t> values) {
        for (std::size_t k = 0; k < values.size(); ++k) values[k] = value_at(first + k);
    };
}

/// Points with a normal distribution around (0, 0) and a standard deviation of 1.
struct Points {
    static constexpr std::size_t count = 512;
    double x[count], y[count];
};

/// Return the sum of signs[i] * x^(first + 2 i) / (first + 2 i)!, with alternating signs: the cosine of x if `first` is
/// 0, the sine if it is 1. For |x| <= pi / 4, the error is less than 1e-16.
template <int first>
double series(double x) {
    double sum = 1;
    for (int n = first + 16; n > first; n -= 2) sum = 1 - x * x / (n * (n - 1)) * sum;
    return first ? x * sum : sum;
}

/// Compute the points from `first` on. libm's sine and cosine would take most of the time, because the compiler cannot
/// use them for several points at once.
void draw_points(std::uint64_t seed, std::size_t first, Points& points) {
    double radius[Points::count], turn[Points::count];
    for (std::size_t k = 0; k < Points::count; ++k) {
        const std::uint64_t bits = random_bits(seed, 0, first + k);
        radius[k] = unit(bits);
        turn[k] = unit(bits << 23);
    }
    for (double& r : radius) r = std::sqrt(-2 * std::log(r));
    for (std::size_t k = 0; k < Points::count; ++k) {
        const int quarter = static_cast<int>(4 * turn[k] + 0.5);
        const double angle = (4 * turn[k] - quarter) * (std::numbers::pi / 2);
        const double cosine = radius[k] * series<0>(angle), sine = radius[k] * series<1>(angle);
        const double x = quarter & 1 ? -sine : cosine, y = quarter & 1 ? cosine : sine;
        points.x[k] = quarter & 2 ? -x : x;
        points.y[k] = quarter & 2 ? -y : y;
    }
}

/// Return a generator of values around centres; `centre(i)` is the centre for value i. Values outside the histogram
/// move to its edge.
template <class Centre>
Fill fill_bells(const Recipe& recipe, Centre centre) {
    const double sigma_x = recipe.number("sigma_x"), sigma_y = recipe.number("sigma_y");
    return [=](std::size_t first, std::span<std::uint32_t> values) {
        Points points;
        for (std::size_t k = 0; k < values.size(); ++k) {
            const std::size_t in_group = k % Points::count;
            if (in_group == 0) draw_points(recipe.seed, first + k, points);
            const auto [x, y] = centre(first + k);
            values[k] = recipe.bin(clamp_to(x + sigma_x * points.x[in_group], recipe.shape.columns),
                                   clamp_to(y + sigma_y * points.y[in_group], recipe.shape.rows));
        }
    };
}

struct Point {
    double x, y;
};

Fill make_bell(const Recipe& recipe) {
    const Point centre{centre_of(recipe, 1, recipe.shape.columns), centre_of(recipe, 2, recipe.shape.rows)};
    return fill_bells(recipe, [=](std::size_t) { return centre; });
}

/// Two normal distributions in opposite corners, so that hardly any value is near their mean.
Fill make_two_bells(const Recipe& recipe) {
    return fill_bells(recipe, [=](std::size_t i) {
        const double at = random_bits(recipe.seed, 3, i) & 1 ? 0.1 : 0.9;
        return Point{at * static_cast<double>(recipe.shape.columns), at * static_cast<double>(recipe.shape.rows)};
    });
}

/// A normal distribution around the first corner in histograms with an even number, around the last one in the others.
Fill make_corners(const Recipe& recipe) {
    const bool last = recipe.histogram % 2;
    const Point corner{last ? static_cast<double>(recipe.shape.columns) : 0,
                       last ? static_cast<double>(recipe.shape.rows) : 0};
    return fill_bells(recipe, [=](std::size_t) { return corner; });
}

Fill make_uniform(const Recipe& recipe) {
    return fill_each([=](std::size_t i) {
        return static_cast<std::uint32_t>(random_bits(recipe.seed, 4, i) % recipe.shape.bins());
    });
}

/// All values of a histogram are equal.
Fill make_one_value(const Recipe& recipe) {
    const auto value = static_cast<std::uint32_t>(random_bits(recipe.seed, 5, recipe.histogram) % recipe.shape.bins());
    return fill_each([=](std::size_t) { return value; });
}

/// Only two adjacent bins in one word.
Fill make_neighbours(const Recipe& recipe) {
    const std::uint64_t word = random_bits(recipe.seed, 6, recipe.histogram) % (recipe.shape.bins() / 4);
    const std::uint64_t first = word * 4 + recipe.histogram % 3;
    return fill_each(
        [=](std::size_t i) { return static_cast<std::uint32_t>(first + (random_bits(recipe.seed, 7, i) & 1)); });
}

/// The four corners, and bins along the edges.
Fill make_edges(const Recipe& recipe) {
    return fill_each([=](std::size_t i) {
        const std::uint64_t bits = random_bits(recipe.seed, 8, i);
        const std::size_t right = recipe.shape.columns - 1, bottom = recipe.shape.rows - 1;
        const std::size_t x = (bits >> 8) % recipe.shape.columns, y = (bits >> 32) % recipe.shape.rows;
        const bool is_far_edge = bits & 1;
        switch (bits >> 1 & 3) {
            case 0:
                return recipe.bin(is_far_edge ? right : 0, y);
            case 1:
                return recipe.bin(x, is_far_edge ? bottom : 0);
            default:
                return recipe.bin(is_far_edge ? right : 0, bits >> 3 & 1 ? bottom : 0);
        }
    });
}

/// Bins that are far apart or adjacent, each with an exact count: 1, 2, or a number near a multiple of 128. The values
/// are in random order, and the last bin gets only as many as remain.
Fill make_counts(const Recipe& recipe) {
    static constexpr std::size_t cycle[] = {126, 127, 128, 1, 129, 253, 2, 254, 255, 256, 125, 257, 383, 384, 511, 512};
    const std::size_t n = recipe.shape.n, all = recipe.shape.bins();
    auto list = std::make_shared<std::vector<std::uint32_t>>();
    for (std::size_t k = 0; list->size() < n; ++k) {
        const std::size_t count = std::min(cycle[k % std::size(cycle)], n - list->size());
        const std::size_t bin = k / 16 % 2 ? k * 4099 % all : (k / 16 * 64 + k % 16) % all;
        list->insert(list->end(), count, static_cast<std::uint32_t>(bin));
    }
    for (std::size_t i = n; i-- > 1;) std::swap((*list)[i], (*list)[random_bits(recipe.seed, 9, i) % (i + 1)]);
    return fill_each([=](std::size_t i) { return (*list)[i % n]; });
}

struct Generator {
    Fill (*make)(const Recipe&);
    bool has_sigma = false;
};

const std::map<std::string, Generator> generators = {
    {"bell", {make_bell, true}},       {"two_bells", {make_two_bells, true}},
    {"corners", {make_corners, true}}, {"uniform", {make_uniform}},
    {"one_value", {make_one_value}},   {"neighbours", {make_neighbours}},
    {"edges", {make_edges}},           {"counts", {make_counts}}};

void require_parameters(const Dataset& dataset, bool has_sigma) {
    if (has_sigma)
        require_only(dataset, {"histograms", "n", "columns", "rows", "sigma_x", "sigma_y"});
    else
        require_only(dataset, {"histograms", "n", "columns", "rows"});
}

Shape read_shape(const Dataset& dataset) {
    const auto size = [&](const char* name) { return static_cast<std::size_t>(read_size(dataset, name)); };
    const Shape shape{size("histograms"), size("n"), size("columns"), size("rows")};
    if (shape.histograms == 0) throw recipe_error(dataset, "there is at least one histogram");
    if (shape.columns < 16 || shape.columns > 2048 || (shape.columns & (shape.columns - 1)))
        throw recipe_error(dataset, "\"columns\" is a power of two from 16 to 2048");
    if (shape.rows < 1 || shape.rows > 1024) throw recipe_error(dataset, "\"rows\" is from 1 to 1024");
    return shape;
}

// --- references ---

/// Count values; a bin that has reached the cap does not change any more, as in the 2019 talk.
void count_values(const std::uint32_t* from, std::size_t n, std::uint8_t* to, std::size_t bins) {
    std::fill_n(to, bins, std::uint8_t{0});
    for (std::size_t i = 0; i < n; ++i)
        if (to[from[i]] < soft_cap) ++to[from[i]];
}

// --- outputs of students' mistakes ---

constexpr auto first_with_shares = "02";        // the first stage with several blocks for a histogram
constexpr auto first_with_vectors = "03";       // the first stage that loads four values at a time
constexpr auto first_with_window = "04";        // the first stage with bins in shared memory
constexpr auto first_with_additions = "07";     // the first stage that adds before it tests whether a bin is full
constexpr std::size_t max_explained = 1 << 26;  // bins and values of a call

std::uint8_t capped(std::uint32_t count) { return static_cast<std::uint8_t>(std::min(count, soft_cap)); }
bool fits_count(std::uint32_t count, std::uint8_t actual) {
    return count < soft_cap ? actual == count : actual >= soft_cap;
}

using Counts = std::vector<std::uint32_t>;  // the counts of all histograms' bins, without a cap
const Nouns nouns{"values of each histogram", "counted"};

/// Compares the wrong output with the output of each mistake.
class Explanation {
  public:
    explicit Explanation(const Situation& situation)
        : situation_(situation),
          shape_(shape_of(situation.problem)),
          values_(situation.problem.arrays[values].as<std::uint32_t>()),
          actual_(situation.actual[bins].as<std::uint8_t>()),
          before_(situation.before[bins].as<std::uint8_t>()) {}

    std::vector<Hypothesis> hypotheses() {
        using E = Explanation;
        if (actual_.size() + values_.size() > max_explained) return {};
        counts_ = count([](std::size_t, std::size_t) { return 1; });
        for (std::size_t b = 0; b < counts_.size(); ++b)
            if (!fits_count(counts_[b], actual_[b])) wrong_.push_back(b);
        if (wrong_.empty() || std::equal(actual_.begin(), actual_.end(), before_.begin())) return {};
        first_ = wrong_.front();
        return first_fit(situation_, *this, {&E::try_nothing,        &E::try_other_histogram,
                                             &E::try_first_only,     &E::try_not_cleared,
                                             &E::try_bytes_reversed, &E::try_all_full,
                                             &E::try_mask,           &E::try_cap_too_low,
                                             &E::try_whole_word,     &E::try_carry,
                                             &E::try_twice,          &E::try_bit_shift,
                                             &E::try_ends,           &E::try_components,
                                             &E::try_stride,         &E::try_share,
                                             &E::try_window,         &E::try_shifted,
                                             &E::try_rows_apart,     &E::try_stale,
                                             &E::try_rows_lost,      &E::try_vectors,
                                             &E::try_pitch,          &E::try_taken_back,
                                             &E::try_too_often,      &E::try_lost});
    }

  private:
    struct Bin {
        std::size_t histogram, x, y;
    };

    Bin place(std::size_t b) const {
        return {b / shape_.bins(), b % shape_.columns, b % shape_.bins() / shape_.columns};
    }

    std::string describe(std::size_t b) const {
        const Bin bin = place(b);
        return sentence("histogram {}, row {}, column {}", bin.histogram, bin.y, bin.x);
    }

    std::string describe_count(std::size_t b) const {
        return sentence("{} is {}, and {} {} into it", describe(b), actual_[b], format_plural(counts_[b], "value"),
                        counts_[b] == 1 ? "falls" : "fall");
    }

    /// Count value i of histogram h times(h, i) times.
    template <class Times>
    Counts count(Times times) const {
        Counts counts(shape_.histograms * shape_.bins());
        for (std::size_t h = 0; h < shape_.histograms; ++h)
            for (std::size_t i = 0; i < shape_.n; ++i)
                counts[h * shape_.bins() + values_[h * shape_.n + i]] += static_cast<std::uint32_t>(times(h, i));
        return counts;
    }

    bool fits(const Counts& counts) const {
        return std::equal(counts.begin(), counts.end(), actual_.begin(), fits_count);
    }

    template <class Test>
    bool all_wrong(Test test) const {
        return std::all_of(wrong_.begin(), wrong_.end(), test);
    }

    /// Return whether a bin holds more than its count.
    bool has_surplus() const {
        return std::any_of(wrong_.begin(), wrong_.end(), [this](std::size_t b) { return actual_[b] > counts_[b]; });
    }

    Guess try_nothing() {
        if (std::any_of(actual_.begin(), actual_.end(), [](std::uint8_t bin) { return bin > 0; })) return {};
        return Mistake{"nothing_counted", "Every bin is 0: no value is counted at all.",
                       "Does each thread call the function that counts, for its values, and does this write to the "
                       "bin? atomicCAS(word, seen, wanted) writes `wanted` only if the word is still `seen`. Or are "
                       "the bins cleared after the values have been counted?"};
    }

    /// Return whether a later bin of the same word is not empty.
    bool has_later_neighbour(std::size_t b) const {
        for (std::size_t later = b + 1; later % 4 && later < counts_.size(); ++later)
            if (counts_[later]) return true;
        return false;
    }

    /// Counts are missing only if a later byte of the word is not 0, more often than by chance: that byte is not
    /// masked.
    Guess try_mask() {
        constexpr double max_chance = 1e-4;
        if (!all_wrong([&](std::size_t b) { return actual_[b] < counts_[b] && has_later_neighbour(b); })) return {};
        std::size_t with_later = 0, used = 0;
        for (std::size_t b = 0; b < counts_.size(); ++b) {
            used += counts_[b] > 0;
            with_later += counts_[b] > 0 && has_later_neighbour(b);
        }
        const double share = static_cast<double>(with_later) / static_cast<double>(used);
        if (std::pow(share, static_cast<double>(wrong_.size())) > max_chance) return {};
        return Mistake{"mask_missing",
                       "Counts are missing only in bins that share their word with a later bin that is not empty: " +
                           describe_count(first_) + ".",
                       "After the shift, the later bins of the word are still there, above the eight bits of this bin: "
                       "seen >> shift & 255 is the bin."};
    }

    /// The whole word is compared with the cap, not one byte: after the first count in one of its last three bytes,
    /// nothing more is counted in the word.
    Guess try_whole_word() {
        std::size_t stopped = 0, first = 0, several = 0;
        for (std::size_t b = 0; b + 3 < counts_.size(); b += 4) {
            const std::uint32_t later = counts_[b + 1] + counts_[b + 2] + counts_[b + 3];
            const auto found = std::uint32_t{actual_[b + 1]} + actual_[b + 2] + actual_[b + 3];
            for (std::size_t k = b; k < b + 4; ++k)
                if (actual_[k] > counts_[k]) return {};
            const bool is_first_full = actual_[b] >= soft_cap;
            if (found != std::min(later, 1u) && !(found == 0 && is_first_full)) return {};
            if (later == 0 && !fits_count(counts_[b], actual_[b])) return {};
            several += actual_[b] + found > 1;  // no word would hold several counts if it were replaced only once
            if (later > 1 && stopped++ == 0) first = b;
        }
        if (stopped < 2 || several == 0) return {};
        const std::size_t named = std::max_element(counts_.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                                                   counts_.begin() + static_cast<std::ptrdiff_t>(first) + 4) -
                                  counts_.begin();
        return Mistake{
            "word_compared",
            sentence("Once byte 1, 2 or 3 of a word is not 0, nothing more is counted in the word, in all {} words "
                     "with more values: {}. It is as if the whole word were compared with the cap.",
                     stopped, describe_count(named)),
            "The loop's condition must look at one byte of the word, that of this bin: seen >> shift & 255."};
    }

    /// A value is added to its word at bit bin % 4, or always at bit 0, so all four bins are counted in the first byte.
    /// Only small sums are compared, because large ones depend on the order of the threads.
    Guess try_bit_shift() {
        if (Guess guess = try_wrong_shift()) return guess;
        if (Guess guess = try_bit_shift(2)) return guess;
        return try_bit_shift(1);
    }

    /// The shift within a word has a wrong factor or modulus. Test only words with few values, in which no field is
    /// full.
    Guess try_wrong_shift() const {
        struct Shift {
            std::size_t modulus, bits, divisor = 1;
        };
        constexpr std::uint32_t max_values = 3;
        constexpr std::size_t min_moved = 8;
        for (const auto [modulus, bits, divisor] :
             {Shift{8, 4}, Shift{4, 4}, Shift{4, 2}, Shift{2, 8}, Shift{2, 16}, Shift{32, 1}, Shift{4, 8, 4},
              Shift{4, 8, 8}, Shift{4, 8, 2}, Shift{4, 8, 16}}) {
            std::size_t moved = 0;
            bool fits = true;
            for (std::size_t b = 0; fits && b + 3 < counts_.size(); b += 4) {
                if (counts_[b] + counts_[b + 1] + counts_[b + 2] + counts_[b + 3] > max_values) continue;
                std::uint32_t word = 0, right = 0, found = 0;
                for (std::size_t k = 0; k < 4; ++k) {
                    word += counts_[b + k] << (b + k) / divisor % modulus * bits;
                    right += counts_[b + k] << 8 * k;
                    found += std::uint32_t{actual_[b + k]} << 8 * k;
                }
                fits = word == found;
                moved += word != right;
            }
            if (!fits || moved < min_moved) continue;
            if (divisor > 1) return wrong_byte(divisor);
            return Mistake{"shifted_by_bits",
                           sentence("The counts are where a shift by bin % {} * {} puts them.", modulus, bits),
                           "A word has four bins of eight bits each: which bin of the word is this one, and at which "
                           "bit does it begin?"};
        }
        return {};
    }

    /// The byte of a bin is bin / divisor % 4. The divisor is a power of two, more than 1.
    static Mistake wrong_byte(std::size_t divisor) {
        const int low = std::countr_zero(divisor);
        return {"shifted_by_bits",
                sentence("{}: bits {} and {} of bin choose the byte, as with a shift by bin / {} % 4 * 8. Bits 0 and 1 "
                         "should choose it.",
                         std::string(divisor < 4 ? "Bins are counted in a wrong byte of their word"
                                                 : "All four bins of a word are counted in one byte of it"),
                         low, low + 1, std::to_string(divisor)),
                "A word has four bins of eight bits each, so bin % 4 is the byte, and bin % 4 * 8 the shift. Mind the "
                "parentheses: & comes after *, so bin & 3 * 8 is bin & 24."};
    }

    /// `factor`: the number that a value adds to a bin, divided by the number for the previous bin.
    Guess try_bit_shift(std::uint32_t factor) const {
        constexpr std::uint32_t max_sum = 63;
        std::size_t fitting = 0, first = 0;
        for (std::size_t b = 0; b + 3 < counts_.size(); b += 4) {
            const std::uint32_t sum =
                counts_[b] + factor * (counts_[b + 1] + factor * (counts_[b + 2] + factor * counts_[b + 3]));
            if (sum > max_sum) continue;
            if (actual_[b] != sum || actual_[b + 1] || actual_[b + 2] || actual_[b + 3]) return {};
            if (sum > counts_[b] && fitting++ == 0) first = b;
        }
        if (fitting == 0) return {};
        return Mistake{"shifted_by_bits",
                       sentence("All four bins of a word are counted in its first byte, {} for a value: {}, {} into "
                                "the three bins after it.",
                                std::string(factor == 2 ? "1, 2, 4 or 8" : "1"), describe_count(first),
                                counts_[first + 1] + counts_[first + 2] + counts_[first + 3]),
                       factor == 2
                           ? "A bin has eight bits: bin % 4 counts bytes, so the word is shifted by bin % 4 * 8."
                           : "One more in byte k of a word is 1u << 8 * k more in the word, not 1."};
    }

    /// Threads of a block take one value each, or advance by more than the size of the block.
    Guess try_stride() {
        if (!all_wrong([&](std::size_t b) { return actual_[b] < capped(counts_[b]); })) return {};
        for (const std::size_t block : common_block_sizes)
            for (std::size_t blocks = shape_.histograms; blocks <= 16 * shape_.histograms; blocks *= 2) {
                const Reach part{.end = shape_.n, .period = block * blocks, .run = block};
                if (blocks == 1 || block >= shape_.n || !fits_reach(part)) continue;
                if (shape_.n > part.period)
                    return Mistake{"stride_too_long", describe_part(part, nouns),
                                   "A thread steps by the number of threads that count the same histogram, not by the "
                                   "threads of all blocks: gridDim.x blocks do not work on the same histogram."};
                return Mistake{
                    "stride_too_long",
                    sentence("Of each histogram's {} values only the first {} are counted.", shape_.n, block),
                    "A block has fewer threads than values: does each thread continue with the value BLOCK "
                    "places further on, until the end?"};
            }
        return {};
    }

    bool fits_reach(const Reach& reach) const {
        return fits(count([&](std::size_t, std::size_t i) { return reach.times_of(i); }));
    }

    /// Bins without values keep their contents from before the call.
    Guess try_not_cleared() {
        std::size_t empty = 0, first = 0, cleared = 0;
        for (const std::size_t b : wrong_) {
            if (counts_[b] != 0) continue;
            if (actual_[b] != before_[b]) return {};
            if (empty++ == 0) first = b;
        }
        if (empty == 0) return {};
        for (std::size_t b = 0; b < counts_.size(); ++b) cleared += counts_[b] == 0 && before_[b] && !actual_[b];
        if (const auto [run, period] = cleared_pattern(); period > 0)
            return Mistake{
                "not_cleared",
                sentence("Of every {} bins of a histogram only the first {} are cleared; {} bins that no value falls "
                         "into hold what they held before the call, the first {} in {}.",
                         period, run, empty, actual_[first], describe(first)),
                "Which threads or blocks should clear the others? The loop that clears steps by the number of threads "
                "that the kernel assumes: does the launch start as many in each block, and enough blocks?"};
        return Mistake{
            "not_cleared",
            sentence("{} bins that no value falls into hold what they held before the call, the first {} in {}{}.",
                     empty, actual_[first], describe(first), cleared ? "; others are cleared" : ""),
            cleared
                ? "Which bins does each block clear, and do these cover the histogram? Other blocks may count in these "
                  "bins only afterwards."
                : "bins holds garbage before the call: set it to 0, in every call, before the first value is counted."
                  " The arguments of cudaMemset are the address, the value and the number of bytes, in this order. If "
                  "a kernel clears the bins: has its launch enough threads, and the arguments in the order of the "
                  "kernel's parameters?"};
    }

    struct Cleared {
        std::size_t run = 0, period = 0;  // of every `period` bins of a histogram the first `run` are cleared
    };

    /// Find out whether the bins without values are cleared in a regular pattern; if not, the period is 0.
    Cleared cleared_pattern() const {
        const auto is_old = [this](std::size_t b) { return counts_[b] == 0 && before_[b] != 0 && actual_[b] != 0; };
        const auto is_cleared = [this](std::size_t b) { return counts_[b] == 0 && before_[b] != 0 && actual_[b] == 0; };
        const std::size_t all = shape_.bins();
        std::size_t run = 0;
        while (run < all && !is_old(run)) ++run;
        if (run < 32 || run == all) return {};
        for (std::size_t times = 2; times <= 8 && run * times < all; ++times) {
            const std::size_t period = run * times;
            std::size_t cleared = 0;  // in later periods
            bool fits = true;
            for (std::size_t b = 0; b < counts_.size() && fits; ++b) {
                const bool is_first = b % all % period < run;
                fits = is_first ? !is_old(b) : !is_cleared(b);
                cleared += is_first && b % all >= period && is_cleared(b);
            }
            if (fits && cleared > 0) return {run, period};
        }
        return {};
    }

    /// Bytes exceeded 255: they carried into the next bin of the word, or wrapped around to 0.
    Guess try_carry() {
        std::optional<std::size_t> wrapped, carried;
        if (all_wrong([&](std::size_t b) { return actual_[b] == 0 && counts_[b] % 256 != 0; }))
            return {};  // simply lost
        for (const std::size_t b : wrong_) {
            if (counts_[b] > 255 && actual_[b] < soft_cap)
                wrapped = wrapped.value_or(b);
            else if (b % 4 && counts_[b - 1] > 255 && actual_[b] > counts_[b])
                carried = carried.value_or(b);
            else
                return {};
        }
        if (carried)
            return Mistake{"carry",
                           sentence("A full byte has carried into its neighbour: {} is {}, and {} values fall into it; "
                                    "{} fall into the previous bin, in the same word.",
                                    describe(*carried), actual_[*carried], counts_[*carried], counts_[*carried - 1]),
                           "Never add to a byte that holds 255. Between the read and the atomicAdd, other threads "
                           "add, too: at most once for each thread that runs."};
        return Mistake{"wrapped",
                       sentence("A bin exceeded 255 and wrapped around to 0: {} is {}, and {} values fall into it.",
                                describe(*wrapped), actual_[*wrapped], counts_[*wrapped]),
                       "A byte holds 255 at most. Do not add to a bin that has reached soft_cap, no matter what other "
                       "threads do between your read and your addition."};
    }

    Guess try_cap_too_low() {
        const std::uint8_t cap = actual_[first_];
        if (cap >= soft_cap || cap == 0 || wrong_.size() < 2) return {};
        if (!all_wrong([&](std::size_t b) { return actual_[b] == cap && counts_[b] > cap; })) return {};
        if (all_wrong([&](std::size_t b) { return counts_[b] % 256 == cap; })) return {};  // wrapped around
        if (std::none_of(actual_.begin(), actual_.end(), [&](std::uint8_t bin) { return bin > cap; }))
            return Mistake{"cap_too_low",
                           sentence("No bin goes beyond {}: counts are exact up to {}.", cap, soft_cap - 1),
                           "A bin that holds less than soft_cap, 127, takes one more."};
        // If threads only lost each other's additions, bins of many values would have lost different numbers of them.
        constexpr std::ptrdiff_t min_far = 16;
        const auto far_beyond = [&](std::size_t b) { return counts_[b] > cap + 2u; };
        if (std::count_if(wrong_.begin(), wrong_.end(), far_beyond) < min_far) return {};
        return Mistake{
            "cap_too_low",
            sentence("{} stop at {}, although more values fall into each; all other bins are right.",
                     format_plural(wrong_.size(), "bin"), cap),
            "A bin that holds less than soft_cap, 127, takes one more. If the code undoes additions: which old "
            "values make it do so, and is it the byte of this bin that is tested?"};
    }

    std::string wrong_bins_hold() const {
        return format_plural(wrong_.size(), "bin") + (wrong_.size() == 1 ? " holds" : " hold");
    }

    Guess try_twice() {
        const auto counted = [&](std::uint32_t times) {
            return all_wrong([&](std::size_t b) { return counts_[b] && fits_count(times * counts_[b], actual_[b]); });
        };
        for (const std::uint32_t times : {4u, 3u, 8u, 16u})
            if (!counted(2) && counted(times))
                return Mistake{
                    "counted_repeatedly",
                    sentence("{} {} times the right count. The first wrong one holds {} instead of {}: {}.",
                             wrong_bins_hold(), times, actual_[first_], counts_[first_], describe(first_)),
                    "Exactly one block must count each value. Does each block update only its own share of the "
                    "bins?"};
        if (!counted(2)) return {};
        return Mistake{"counted_twice",
                       sentence("{} twice the right count, the first {} instead of {} in {}.", wrong_bins_hold(),
                                actual_[first_], counts_[first_], describe(first_)),
                       "Do two threads or two blocks count the same value, or is it counted in shared memory and in "
                       "the histogram?"};
    }

    /// A histogram is in the wrong place, or has the values of another one.
    Guess try_other_histogram() {
        if (shape_.histograms < 2) return {};
        const std::size_t all = shape_.bins();
        Counts together(all), first(counts_.size());
        for (std::size_t b = 0; b < counts_.size(); ++b) {
            together[b % all] += counts_[b];
            first[b] = counts_[b % all];
        }
        if (std::equal(together.begin(), together.end(), actual_.begin(), fits_count))
            return Mistake{"one_histogram", "The values of all histograms are counted in the first one.",
                           "Histogram h begins at bins + h * rows * columns."};
        if (!fits(first)) return {};
        return Mistake{"same_values", "Every histogram is that of the first one's values.",
                       "The values of histogram h begin at values + h * n."};
    }

    /// Only the first histogram is written, by any number of blocks.
    Guess try_first_only() {
        const auto others = static_cast<std::ptrdiff_t>(shape_.bins());
        if (shape_.histograms < 2) return {};
        if (!std::equal(actual_.begin() + others, actual_.end(), before_.begin() + others)) return {};
        return Mistake{"one_histogram", "Only the first histogram is written; the others hold what they held before.",
                       "Does the launch start enough blocks for every histogram, and does each block count in its "
                       "own? Histogram h begins at bins + h * rows * columns."};
    }

    /// Byte k of a word contains the bin of byte 3 - k.
    Guess try_bytes_reversed() {
        for (std::size_t b = 0; b < counts_.size(); ++b)
            if (!fits_count(counts_[b ^ 3], actual_[b])) return {};
        return Mistake{"bytes_reversed", "The four bins of each word are in reverse order.",
                       "Byte k of a word is bits 8 * k to 8 * k + 7: the shift is bin % 4 * 8."};
    }

    /// Every value fills its bin, as if it were counted many times.
    Guess try_all_full() {
        bool is_short = false;
        for (std::size_t b = 0; b < counts_.size(); ++b) {
            if (counts_[b] ? actual_[b] < soft_cap : actual_[b] != 0) return {};
            is_short = is_short || (counts_[b] > 0 && counts_[b] < soft_cap);
        }
        if (!is_short) return {};
        return Mistake{
            "counted_repeatedly",
            "Every bin that a value falls into is full, as if each value were counted many times: " +
                describe_count(first_) + ".",
            "Does every thread go through all values? A thread's loop begins at threadIdx.x, and its step is "
            "the number of threads that count the same histogram."};
    }

    bool has_vectors() const { return situation_.stage.empty() || situation_.stage >= first_with_vectors; }

    /// Return the number of values of a histogram before its first aligned vector of four.
    std::size_t head_of(std::size_t histogram) const { return std::min(shape_.n, (4 - histogram * shape_.n % 4) % 4); }

    Guess try_ends() {
        constexpr std::size_t min_values = 7;  // then each histogram has a whole vector
        const std::size_t n = shape_.n;
        const auto head = [this](std::size_t h) { return head_of(h); };
        Nouns words = nouns;
        if (!has_vectors()) words.longest_vector = 1;
        if (Guess guess = guess_tail(n, words, [this](const Reach& reach) { return fits_reach(reach); })) return guess;
        if (!has_vectors() || n < min_values) return {};
        if (fits(count([&](std::size_t h, std::size_t i) { return i < head(h) + (n - head(h)) / 4 * 4; })))
            return Mistake{"vector_tail_lost",
                           "The values after each histogram's last whole vector of four are not counted.",
                           "Up to three values are left after the vectors: count them one by one."};
        if (fits(count([&](std::size_t h, std::size_t i) {
                const std::size_t vectors = (n - head(h)) / 4 * 4;
                return i >= vectors && i < vectors + head(h) ? 2 : 1;
            })))
            return Mistake{
                "tail_twice",
                "If a histogram begins with values before its first aligned vector, the same number of values is "
                "counted twice: the last ones of the last whole vector.",
                "The values after the last whole vector begin at head + vectors * 4, not at vectors * 4."};
        if (fits(count([&](std::size_t h, std::size_t i) {
                const std::size_t tail = head(h) + (n - head(h)) / 4 * 4;
                return i < tail ? 1 : i == tail ? n - tail : 0;
            })))
            return Mistake{
                "tail_index",
                "Of the values after each histogram's last whole vector of four, the first is counted for all.",
                "Each of the threads that count these values takes a different one: values[tail + "
                "threadIdx.x]."};
        for (const std::size_t block : {1024, 512, 256})
            if (has_surplus() && fits(count([&](std::size_t h, std::size_t i) -> int {
                    const std::size_t vectors = (n - head(h)) / 4, begin = head(h) + vectors;
                    return (i < head(h) + vectors * 4) + (i >= begin && i < begin + block);
                })))
                return Mistake{
                    "tail_index",
                    "The values after each histogram's last whole vector of four are read from the end of its first "
                    "quarter on: many values are counted twice.",
                    "vectors counts vectors, and a place in values counts values: four for each vector."};
        for (const bool from_head : {true, false})
            if (fits(count([&](std::size_t h, std::size_t i) -> int {
                    const std::size_t tail = head(h) + (n - head(h)) / 4 * 4, begin = from_head ? head(h) : 0;
                    return (i < tail) + (i >= begin && i < begin + n - tail);
                })))
                return Mistake{
                    "tail_index",
                    sentence("The values after each histogram's last whole vector of four are not counted; as "
                             "many {} are counted twice.",
                             from_head ? "of its first vector" : "at its beginning"),
                    "The values after the last whole vector begin at head + vectors * 4: with which index does "
                    "the code read them?"};
        if (!fits(count([&](std::size_t h, std::size_t i) { return i >= head(h); }))) return {};
        return Mistake{
            "head_lost", "The values before each histogram's first aligned vector of four are not counted.",
            "If n is not a multiple of 4, most histograms begin with up to three values that no vector holds."};
    }

    Guess try_components() {
        for (std::size_t k = 0; k < 4; ++k)
            if (fits(count([&](std::size_t h, std::size_t i) { return (h * shape_.n + i) % 4 != k; })))
                return Mistake{"component_forgotten",
                               describe_part({.period = 4, .first = k, .others = true}, {"values", "counted"}),
                               "A vector of four has x, y, z and w."};
        return has_vectors() && has_surplus() ? try_component_twice() : Guess();
    }

    /// In each whole vector, one value is counted in place of another one.
    Guess try_component_twice() const {
        static constexpr const char* names[] = {"x", "y", "z", "w"};
        const std::size_t n = shape_.n;
        for (std::size_t lost = 0; lost < 4; ++lost)
            for (std::size_t twice = 0; twice < 4; ++twice) {
                if (lost == twice || !fits(count([&](std::size_t h, std::size_t i) {
                        const std::size_t head = head_of(h), component = (i - head) % 4;
                        if (i < head || i >= head + (n - head) / 4 * 4) return 1;
                        return component == lost ? 0 : component == twice ? 2 : 1;
                    })))
                    continue;
                return Mistake{"component_forgotten",
                               sentence("Of every vector of four values, {} is counted twice, and {} not at all.",
                                        names[twice], names[lost]),
                               "A vector of four has x, y, z and w: does the code use each of them once?"};
            }
        return {};
    }

    /// In the first histogram with wrong bins, all counts in one rectangle are missing, and all others are there.
    Guess try_window() {
        if (!situation_.stage.empty() && situation_.stage < first_with_window) return {};
        if (!all_wrong([&](std::size_t b) { return actual_[b] == 0 || actual_[b] == before_[b]; })) return {};
        const std::size_t h = place(first_).histogram;
        Bin low = place(first_), high = low;  // corners of the smallest rectangle around this histogram's wrong bins
        for (const std::size_t b : wrong_) {
            const Bin bin = place(b);
            if (bin.histogram != h) continue;
            low.x = std::min(low.x, bin.x), high.x = std::max(high.x, bin.x);
            low.y = std::min(low.y, bin.y), high.y = std::max(high.y, bin.y);
        }
        std::size_t right_inside = 0, wrong_inside = 0, outside = 0;
        for (std::size_t b = h * shape_.bins(); b < (h + 1) * shape_.bins(); ++b) {
            const Bin bin = place(b);
            if (counts_[b] == 0) continue;
            const bool inside = bin.x >= low.x && bin.x <= high.x && bin.y >= low.y && bin.y <= high.y;
            ++(!inside ? outside : fits_count(counts_[b], actual_[b]) ? right_inside : wrong_inside);
        }
        if (right_inside || wrong_inside < 8 || !outside) return {};
        return Mistake{
            "window_lost",
            sentence(
                "In histogram {}, all counts of rows {} to {}, columns {} to {} are missing, and all others are there.",
                h, low.y, high.y, low.x, high.x),
            "The counts in shared memory must be written to the histogram when all threads of the block have "
            "counted. If they are: does the code find any value inside the window? With y and x always too large, all "
            "are counted in the histogram, and the empty window overwrites them: let a thread print both."};
    }

    /// Threads read the same few vectors again and again.
    Guess try_vectors() {
        constexpr std::size_t vector = 4;
        if (!has_surplus()) return {};
        struct Place {
            const char* words;
            std::size_t (*of)(std::size_t i, std::size_t vectors);
        };
        static constexpr Place places[] = {
            {"vector i % 4", [](std::size_t i, std::size_t) { return i % vector; }},
            {"vector i / 4", [](std::size_t i, std::size_t) { return i / vector; }},
            {"the block's first vectors, one for each thread", [](std::size_t i, std::size_t) { return i % 1024; }},
            {"vector 0", [](std::size_t, std::size_t) { return std::size_t{0}; }},
            {"vector i + 1", [](std::size_t i, std::size_t vectors) { return std::min(i + 1, vectors - 1); }}};
        for (const auto& [words, of] : places) {
            Counts counts(counts_.size());
            for (std::size_t h = 0; h < shape_.histograms; ++h) {
                const std::size_t begin = h * shape_.n, head = std::min(shape_.n, (vector - begin % vector) % vector),
                                  vectors = (shape_.n - head) / vector;
                for (std::size_t i = 0; i < shape_.n; ++i) {
                    const bool in_vector = i >= head && i < head + vectors * vector;
                    const std::size_t k = in_vector ? of((i - head) / vector, vectors) * vector : 0;
                    const std::size_t from = in_vector ? head + k + (i - head) % vector : i;
                    ++counts[h * shape_.bins() + values_[begin + from]];
                }
            }
            if (fits(counts))
                return Mistake{"step_index", sentence("In place of vector i of each histogram, {} is counted.", words),
                               "With which index does a thread read its vectors, and how does this index change from "
                               "one step of its loop to the next?"};
        }
        return {};
    }

    /// In each histogram with wrong bins, all counts are there, but some are in other bins of the window.
    Guess try_pitch() {
        constexpr std::size_t min_bins = 32;
        if (!situation_.stage.empty() && situation_.stage < first_with_window) return {};
        std::size_t low_row = shape_.rows, high_row = 0, right_outside = 0, filled = 0;
        std::vector<std::int64_t> surplus(shape_.histograms);
        for (const std::size_t b : wrong_) {
            const Bin bin = place(b);
            if (counts_[b] >= soft_cap || actual_[b] >= soft_cap) return {};
            surplus[bin.histogram] += std::int64_t{actual_[b]} - counts_[b];
            filled += actual_[b] > 0;
            low_row = std::min(low_row, bin.y), high_row = std::max(high_row, bin.y);
        }
        for (std::size_t b = 0; b < counts_.size(); ++b)
            right_outside += counts_[b] > 0 && (place(b).y < low_row || place(b).y > high_row);
        const bool is_complete = std::ranges::all_of(surplus, [](std::int64_t more) { return more == 0; });
        if (!is_complete || filled < min_bins || right_outside < min_bins) return {};
        return Mistake{
            "layout_mixed",
            sentence("No count is lost, but {} in rows {} to {}, where the window is, have counts of other bins: {}.",
                     format_plural(wrong_.size(), "bin"), low_row, high_row, describe_count(first_)),
            "Row y, column x of the window is its byte y * width + x, where width is the window's own. Do the code "
            "that counts and the code that stores the window use the same width, and the same beginning?"};
    }

    /// Bins have too few counts if another bin of their word is so full that additions to it are undone.
    Guess try_taken_back() {
        constexpr double max_chance = 1e-4;
        if (!situation_.stage.empty() && situation_.stage < first_with_additions) return {};
        const auto shares_word_with_full = [&](std::size_t b) {
            for (std::size_t other = b / 4 * 4; other < b / 4 * 4 + 4; ++other)
                if (other != b && counts_[other] > soft_cap) return true;
            return false;
        };
        if (!all_wrong([&](std::size_t b) { return actual_[b] != counts_[b] && shares_word_with_full(b); })) return {};
        std::size_t used = 0, with_full = 0;
        for (std::size_t b = 0; b < counts_.size(); ++b) {
            used += counts_[b] > 0;
            with_full += counts_[b] > 0 && shares_word_with_full(b);
        }
        const double share = static_cast<double>(with_full) / static_cast<double>(used);
        if (std::pow(share, static_cast<double>(wrong_.size())) > max_chance) return {};
        return Mistake{
            "other_byte",
            sentence("Only bins that share a word with a full bin are wrong: {}.", describe_count(first_)),
            "Taking back an addition must change the same byte that the addition changed, and no other: what "
            "is subtracted from the word for byte 0, and for byte 3?"};
    }

    /// Every bin of one block's share is missing.
    Guess try_share() {
        if (wrong_.size() < 2 || !all_wrong([&](std::size_t b) { return actual_[b] == 0; })) return {};
        struct Division {
            const char* words;  // "part {1} of {0} of …"
            std::size_t (*owner)(const Shape& shape, std::size_t b, std::size_t split);
        };
        static constexpr Division divisions[] = {
            {"part {1} of {0} of the bins, counted from 0",
             [](const Shape& shape, std::size_t b, std::size_t split) {
                 return b % shape.bins() * split / shape.bins();
             }},
            {"the rows whose number modulo {0} is {1}",
             [](const Shape& shape, std::size_t b, std::size_t split) {
                 return b / shape.columns % shape.rows % split;
             }},
            {"the words whose number modulo {0} is {1}",
             [](const Shape&, std::size_t b, std::size_t split) { return b / 4 % split; }},
            {"the bins whose number modulo {0} is {1}",
             [](const Shape&, std::size_t b, std::size_t split) { return b % split; }}};
        for (const std::size_t split : {2, 4, 8, 16, 3})
            for (const auto& [words, owner] : divisions) {
                const auto lost = lost_shares(split, [&](std::size_t b) { return owner(shape_, b, split); });
                if (lost.empty()) continue;
                return Mistake{
                    "share_lost",
                    sentence("Nothing is counted in {}: {} missing.",
                             fmt::format(fmt::runtime(words), split, fmt::join(lost, ", ")),
                             lost.size() == 1 ? "one block's share is" : "these blocks' shares are"),
                    "Is there a block for every share of every histogram, does each know which share is its own, and "
                    "is owns(bin) true for all of its bins, from first to first + count - 1? "
                    "Or does a block clear others' shares, too, when these may have counted already?"};
            }
        return {};
    }

    /// Return the shares that are completely missing. Return none if a share is missing in part, or if the pattern may
    /// be chance.
    template <class Owner>
    std::vector<std::size_t> lost_shares(std::size_t split, Owner owner) const {
        constexpr std::size_t min_agreeing = 16;  // bins that agree with the first bin of their share
        constexpr std::size_t min_missing = 3;    // the same, if only one share is missing
        std::vector<std::size_t> right(split), missing(split), lost;
        for (std::size_t b = 0; b < counts_.size(); ++b)
            if (counts_[b]) ++(actual_[b] ? right : missing)[owner(b)];
        std::size_t more_complete = 0, more_missing = 0;
        for (std::size_t part = 0; part < split; ++part) {
            if (right[part] && missing[part]) return {};
            if (missing[part]) lost.push_back(part);
            more_complete += std::max<std::size_t>(right[part], 1) - 1;
            more_missing += std::max<std::size_t>(missing[part], 1) - 1;
        }
        const bool others_counted =
            std::any_of(right.begin(), right.end(), [](std::size_t count) { return count > 0; });
        if (!others_counted || more_missing < min_missing ||
            (lost.size() > 1 && std::min(more_complete, more_missing) < min_agreeing))
            return {};
        return lost;
    }

    /// Counts are some columns or rows away from their right place.
    Guess try_shifted() {
        const auto misplaced = [&](long dx, long dy) -> Guess {
            const std::size_t moved = dx || dy ? moved_by(dx, dy) : 0;
            if (moved == 0) return {};
            return Mistake{
                "window_misplaced",
                sentence("{} bins hold the count of another bin, {} columns and {} rows away, the first in {}.", moved,
                         std::abs(dx), std::abs(dy), describe(first_)),
                "Counting and writing must use the same beginning of the window."};
        };
        for (const long dy : {0L, 1L, -1L, 2L, -2L, 4L, -4L})
            for (const long dx : {16L, -16L, 4L, -4L, 1L, -1L, 2L, -2L, 8L, -8L, 12L, -12L, 0L})
                if (Guess guess = misplaced(dx, dy)) return guess;
        if (Guess guess = try_window_rows()) return guess;
        std::vector<std::size_t> filled;  // a sample of the filled bins, which quickly excludes most distances
        for (const std::size_t b : wrong_)
            if (filled.size() < 64 && actual_[b] > 0) filled.push_back(b);
        for (long dx = 16 - static_cast<long>(shape_.columns); dx < static_cast<long>(shape_.columns); dx += 16) {
            const auto agrees = [&](std::size_t b) {
                const long from = static_cast<long>(b) - dx;
                return from >= 0 && from < static_cast<long>(counts_.size()) &&
                       fits_count(counts_[static_cast<std::size_t>(from)], actual_[b]);
            };
            if (!std::all_of(filled.begin(), filled.end(), agrees) || filled.empty()) continue;
            if (Guess guess = misplaced(dx, 0)) return guess;
        }
        return {};
    }

    /// In each histogram, counts are some rows away from their right place: by any number of rows, for example if the
    /// window's first row is not subtracted.
    Guess try_window_rows() const {
        std::size_t from = 0, moved = 0;
        long first_moved = 0;
        while (from < wrong_.size()) {
            const std::size_t h = place(wrong_[from]).histogram;
            std::size_t end = from, filled = 0;
            for (; end < wrong_.size() && place(wrong_[end]).histogram == h; ++end) filled += actual_[wrong_[end]] > 0;
            const long rows = static_cast<long>(shape_.rows);
            long dy = 1 - rows;
            while (dy < rows && (dy == 0 || !are_moved(from, end, dy))) ++dy;
            if (dy == rows) return {};
            if (moved == 0) first_moved = dy;
            moved += filled;
            from = end;
        }
        if (moved <= 8) return {};
        return Mistake{
            "window_misplaced",
            sentence("{} bins hold the count of another bin, {} rows away in histogram {}. The first wrong bin "
                     "is that of {}.",
                     moved, std::abs(first_moved), place(first_).histogram, describe(first_)),
            "Counting and writing must use the same beginning of the window."};
    }

    /// Return whether the wrong bins from number `from` to `end` hold the count of the bin dy rows before them, or 0.
    bool are_moved(std::size_t from, std::size_t end, long dy) const {
        for (std::size_t k = from; k < end; ++k) {
            const std::size_t b = wrong_[k];
            const long source = static_cast<long>(b) - dy * static_cast<long>(shape_.columns);
            if (actual_[b] == 0) continue;
            if (source < 0 || source >= static_cast<long>(counts_.size())) return false;
            if (!fits_count(counts_[static_cast<std::size_t>(source)], actual_[b])) return false;
        }
        return true;
    }

    /// Return how many of the wrong bins contain the count of the bin dx columns and dy rows before them; 0 if these
    /// are not most of the wrong bins, or if one of the others is not 0.
    std::size_t moved_by(long dx, long dy) const {
        const long offset = dy * static_cast<long>(shape_.columns) + dx, all = static_cast<long>(counts_.size());
        std::size_t moved = 0, filled = 0;
        const bool shifted = all_wrong([&](std::size_t b) {
            const long from = static_cast<long>(b) - offset;
            const std::uint32_t count = from >= 0 && from < all ? counts_[static_cast<std::size_t>(from)] : 0;
            if (!fits_count(count, actual_[b])) return actual_[b] == 0;
            ++moved;
            filled += count > 0;
            return true;
        });
        return shifted && filled > 8 && moved * 4 >= wrong_.size() * 3 ? moved : 0;
    }

    /// Rows are counted in the window by their number in the histogram, and stored by their number in the block's part.
    Guess try_rows_apart() {
        constexpr std::size_t min_moved = 16;
        if (!situation_.stage.empty() && situation_.stage < first_with_window) return {};
        for (const std::size_t split : {4, 2, 8, 16}) {
            std::size_t moved = 0, first = 0;
            if (!all_wrong([&](std::size_t b) {
                    const Bin bin = place(b);
                    const std::size_t from = bin.y / split;
                    const std::size_t source = b - (bin.y - from) * shape_.columns;
                    const bool is_moved = from % split == bin.y % split && counts_[source] > 0;
                    if (!is_moved || !fits_count(counts_[source], actual_[b])) return actual_[b] == 0;
                    if (moved++ == 0) first = b;
                    return true;
                }) ||
                moved < min_moved)
                continue;
            return Mistake{"window_misplaced",
                           sentence("Counts of row r are in row r * {0} + r % {0}: {1} bins, the first in {2}.", split,
                                    moved, describe(first)),
                           sentence("Row r of the histogram is row r / {} of its block: with which of the two numbers "
                                    "does the code find a bin's row of the window?",
                                    split)};
        }
        return {};
    }

    Guess try_stale() {
        if (!situation_.previous) return {};
        const auto earlier = situation_.previous->arrays[bins].as<std::uint8_t>();
        if (!std::equal(earlier.begin(), earlier.end(), actual_.begin(), actual_.end(), fits_count)) return {};
        return stale_result("The histograms are those", "the values have");
    }

    /// In each histogram, the bins above a row are right, and all others are 0.
    Guess try_rows_lost() {
        const bool has_shares = situation_.stage.empty() || situation_.stage >= first_with_shares;
        if (!has_shares || !all_wrong([&](std::size_t b) { return actual_[b] == 0; })) return {};
        std::size_t end = 0;  // after the last row in which a count is right
        for (std::size_t b = 0; b < counts_.size(); ++b)
            if (counts_[b] && actual_[b]) end = std::max(end, place(b).y + 1);
        constexpr std::size_t min_lost = 8;
        if (end == 0 || wrong_.size() < min_lost || !all_wrong([&](std::size_t b) { return place(b).y >= end; }))
            return {};
        return Mistake{"share_lost",
                       sentence("No value is counted in row {} of a histogram or below it; all counts above are right: "
                                "{}.",
                                end, describe_count(first_)),
                       "Each row belongs to exactly one block of its histogram: for which bins is owns(bin) true, in "
                       "each of the blocks?"};
    }

    /// Values are counted several times, by several blocks or threads. Other bins may have lost counts, for example
    /// when another block cleared them.
    Guess try_too_often() {
        constexpr std::size_t min_surplus = 8, max_split = 16;
        if (situation_.stage.empty() || situation_.stage < first_with_shares) return {};
        std::size_t surplus = 0, first = 0;
        for (const std::size_t b : wrong_) {
            if (actual_[b] <= counts_[b]) continue;
            if (actual_[b] > max_split * counts_[b]) return {};
            if (surplus++ == 0) first = b;
        }
        if (surplus < min_surplus) return {};
        return Mistake{
            "counted_repeatedly",
            sentence("{} bins hold more than their counts, and {} others less: values are counted several times. For "
                     "example, {}.",
                     surplus, wrong_.size() - surplus, describe_count(first)),
            "Exactly one thread of one block counts each value: for which bins is owns(bin) true in each of the "
            "blocks, and which values does each thread read?"};
    }

    Guess try_lost() {
        std::size_t missing = 0;
        bool partly = false;  // after a lost update, the bin still has other counts
        for (const std::size_t b : wrong_) {
            if (actual_[b] >= capped(counts_[b])) return {};
            missing += capped(counts_[b]) - actual_[b];
            partly = partly || actual_[b] > 0;
        }
        if (!partly)
            return Mistake{
                "bins_lost",
                sentence("{} into which values fall {} 0, and all others are right: {}.",
                         format_plural(wrong_.size(), "bin"), std::string(wrong_.size() == 1 ? "is" : "are"),
                         describe_count(first_)),
                "Does a block exist for each of these bins, do all its threads reach every __syncthreads(), does "
                "it count their values, and does nothing clear or overwrite them later?"};
        return Mistake{
            "lost_updates",
            sentence("{} of {} values are missing in {}, and no bin holds too many: {}.", missing,
                     shape_.histograms * shape_.n, format_plural(wrong_.size(), "bin"), describe_count(first_)),
            "Is every value processed, and does a thread whose atomicCAS found another word try again? Is a "
            "bin cleared after another thread has counted in it, or is a list full? Threads that read, add and "
            "write without an atomic on the whole word lose counts, too."};
    }

    const Situation& situation_;
    Shape shape_;
    std::span<const std::uint32_t> values_;
    std::span<const std::uint8_t> actual_, before_;
    Counts counts_;
    std::vector<std::size_t> wrong_;
    std::size_t first_ = 0;  // the first of wrong_
};

class LargeHistogram : public Oracle {
  public:
    Problem generate(const Dataset& dataset, std::uint64_t seed, std::size_t extra) const override {
        const auto& generator = find_generator(dataset, generators);
        require_parameters(dataset, generator.has_sigma);
        const Shape shape = read_shape(dataset);
        const auto size = [](std::size_t count) { return static_cast<std::int64_t>(count); };
        Problem problem{{size(shape.histograms), size(shape.n), size(shape.columns), size(shape.rows)},
                        {},
                        {Array(ElementType::uint32, shape.histograms * shape.n + extra),
                         Array(ElementType::uint8, shape.histograms * shape.bins())}};
        const auto all = problem.arrays[values].as<std::uint32_t>();
        const std::size_t n = std::max<std::size_t>(shape.n, 1), parts = all.size() / n + 1;  // the last may be empty
        std::vector<Fill> of_histogram;
        for (std::size_t h = 0; h < parts; ++h) of_histogram.push_back(generator.make({dataset, shape, seed, h}));
#pragma omp parallel for schedule(dynamic)
        for (std::size_t h = 0; h < parts; ++h)
            of_histogram[h](h * n, all.subspan(h * n, std::min(n, all.size() - h * n)));
        return problem;
    }

    /// Compute one histogram at a time, or one per core, so that each core's bins stay in its cache.
    void reference(Problem& problem, Execution how) const override {
        const Shape shape = shape_of(problem);
        const auto* from = problem.arrays[values].as<std::uint32_t>().data();
        auto* to = problem.arrays[bins].as<std::uint8_t>().data();
#pragma omp parallel for schedule(dynamic) if (how == Execution::openmp)
        for (std::size_t h = 0; h < shape.histograms; ++h)
            count_values(from + h * shape.n, shape.n, to + h * shape.bins(), shape.bins());
    }

    bool reference_part(const Problem& problem, std::size_t, std::size_t first, std::size_t count,
                        Array& part) const override {
        const Shape shape = shape_of(problem);
        const auto* from = problem.arrays[values].as<std::uint32_t>().data();
        auto* to = part.as<std::uint8_t>().data();
        const std::size_t begin = first / shape.bins(), end = (first + count + shape.bins() - 1) / shape.bins();
#pragma omp parallel for schedule(dynamic)
        for (std::size_t h = begin; h < end; ++h) {
            std::vector<std::uint8_t> all_bins(shape.bins());
            count_values(from + h * shape.n, shape.n, all_bins.data(), shape.bins());
            const std::size_t low = std::max(first, h * shape.bins()),
                              high = std::min(first + count, (h + 1) * shape.bins());
            std::copy_n(all_bins.data() + (low - h * shape.bins()), high - low, to + (low - first));
        }
        return true;
    }

    /// Below the soft cap, a bin must be exact; otherwise, any value that is not below the cap is right.
    bool accepts(const Problem&, std::size_t, std::size_t, double expected, double actual) const override {
        return expected < soft_cap ? actual == expected : actual >= soft_cap;
    }

    /// Shift the inputs of a pool by whole histograms: a histogram with values around two centres would be a different
    /// task.
    std::size_t window_step() const override { return timed_values; }

    Cost cost(const Problem& problem) const override {
        const Shape shape = shape_of(problem);
        const double bytes = static_cast<double>(shape.histograms * (4 * shape.n + shape.bins()));
        return {bytes, bytes, 0, 1, "4 bytes per value (a read) and 1 byte per bin (a write), for every histogram"};
    }

    std::vector<Hypothesis> hypotheses(const Situation& situation) const override {
        return Explanation(situation).hypotheses();
    }

    std::string investigate(const Situation& situation, const Experiment& call) const override {
        const Shape shape = shape_of(situation.problem);
        Histogram histogram;
        histogram.n = shape.histograms * shape.n;
        histogram.cap = soft_cap;
        histogram.values = static_cast<std::uint32_t>(shape.bins());
        histogram.output = bins;
        histogram.element = "value";
        histogram.set = [](Problem& problem, std::size_t i, std::uint32_t value) {
            problem.arrays[values].as<std::uint32_t>()[i] = value;
        };
        histogram.bin = [shape](std::size_t i, std::uint32_t value) { return i / shape.n * shape.bins() + value; };
        histogram.name = [shape](std::size_t bin) {
            return sentence("bin {} of histogram {}", bin % shape.bins(), bin / shape.bins());
        };
        return investigate_counts(histogram, {"values", "counted"}, situation.problem, call);
    }
};

}  // namespace

const Oracle* warplab_oracle() {
    static const LargeHistogram oracle;
    return &oracle;
}

}  // namespace warplab
