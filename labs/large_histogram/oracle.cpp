#include "grader/judge/lab/oracle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>

#include "grader/common/text.h"
#include "grader/model/recipe.h"

namespace warplab {
namespace {

enum Buffer { values, bins };

constexpr unsigned soft_cap = 127;
constexpr std::size_t timed_values = 1 << 20;  // of a histogram in the benchmark

struct Shape {
    std::size_t histograms, n, columns, rows;
    std::size_t bins() const { return columns * rows; }
};

Shape shape_of(const Problem& problem) {
    const auto size = [&](std::size_t index) { return static_cast<std::size_t>(problem.sizes[index]); };
    return {size(0), size(1), size(2), size(3)};
}

// --- generators ---

/// From 0 to 1, neither of them.
double unit(std::uint64_t bits) { return (static_cast<double>(bits >> 41) + 0.5) * 0x1p-23; }

std::uint32_t clamp_to(double value, std::size_t size) {
    return static_cast<std::uint32_t>(std::clamp(value, 0.0, static_cast<double>(size - 1)));
}

/// What a value is made of: the dataset's parameters, the seed, which histogram it is for, and its place among all.
struct Recipe {
    const Dataset& dataset;
    Shape shape;
    std::uint64_t seed;

    double number(const char* name) const {
        const double bins = read_number(dataset, name);
        if (bins < 0) throw recipe_error(dataset, fmt::format("\"{}\" is a number of bins, 0 or more", name));
        return bins;
    }
    std::uint32_t bin(std::size_t x, std::size_t y) const { return static_cast<std::uint32_t>(y * shape.columns + x); }
};

/// A normal distribution around (x, y), its ends on the rim of the histogram.
std::uint32_t bell_at(const Recipe& recipe, double x, double y, double sigma_x, double sigma_y, std::size_t i) {
    const std::uint64_t bits = random_bits(recipe.seed, 0, i);
    const double radius = std::sqrt(-2 * std::log(unit(bits))), angle = 2 * std::numbers::pi * unit(bits << 23);
    return recipe.bin(clamp_to(x + sigma_x * radius * std::cos(angle), recipe.shape.columns),
                      clamp_to(y + sigma_y * radius * std::sin(angle), recipe.shape.rows));
}

/// From one to four fifths of the way, another for each histogram.
double centre_of(const Recipe& recipe, std::uint64_t stream, std::size_t histogram, std::size_t size) {
    return static_cast<double>(size) * (0.2 + 0.6 * unit(random_bits(recipe.seed, stream, histogram)));
}

using Value = std::function<std::uint32_t(std::size_t histogram, std::size_t i)>;

Value make_bell(const Recipe& recipe) {
    const double sigma_x = recipe.number("sigma_x"), sigma_y = recipe.number("sigma_y");
    return [=](std::size_t h, std::size_t i) {
        return bell_at(recipe, centre_of(recipe, 1, h, recipe.shape.columns),
                       centre_of(recipe, 2, h, recipe.shape.rows), sigma_x, sigma_y, i);
    };
}

/// Two bells in opposite corners: their mean is where hardly any value is.
Value make_two_bells(const Recipe& recipe) {
    const double sigma_x = recipe.number("sigma_x"), sigma_y = recipe.number("sigma_y");
    return [=](std::size_t, std::size_t i) {
        const bool first = random_bits(recipe.seed, 3, i) & 1;
        const double at = first ? 0.1 : 0.9;
        return bell_at(recipe, at * static_cast<double>(recipe.shape.columns),
                       at * static_cast<double>(recipe.shape.rows), sigma_x, sigma_y, i);
    };
}

Value make_uniform(const Recipe& recipe) {
    return [=](std::size_t, std::size_t i) {
        return static_cast<std::uint32_t>(random_bits(recipe.seed, 4, i) % recipe.shape.bins());
    };
}

/// All values of a histogram are one.
Value make_one_value(const Recipe& recipe) {
    return [=](std::size_t h, std::size_t) {
        return static_cast<std::uint32_t>(random_bits(recipe.seed, 5, h) % recipe.shape.bins());
    };
}

/// Two bins side by side in one word, and nothing else.
Value make_neighbours(const Recipe& recipe) {
    return [=](std::size_t h, std::size_t i) {
        const std::uint64_t word = random_bits(recipe.seed, 6, h) % (recipe.shape.bins() / 4), first = h % 3;
        return static_cast<std::uint32_t>(word * 4 + first + (random_bits(recipe.seed, 7, i) & 1));
    };
}

/// The four corners, and bins along the edges.
Value make_edges(const Recipe& recipe) {
    return [=](std::size_t, std::size_t i) {
        const std::uint64_t bits = random_bits(recipe.seed, 8, i);
        const std::size_t right = recipe.shape.columns - 1, bottom = recipe.shape.rows - 1;
        const std::size_t x = (bits >> 8) % recipe.shape.columns, y = (bits >> 32) % recipe.shape.rows;
        const bool far = bits & 1;
        switch (bits >> 1 & 3) {
            case 0:
                return recipe.bin(far ? right : 0, y);
            case 1:
                return recipe.bin(x, far ? bottom : 0);
            default:
                return recipe.bin(far ? right : 0, bits >> 3 & 1 ? bottom : 0);
        }
    };
}

/// Bins far apart, and beside each other, of which each gets exactly a count around the cap or around 256; in random
/// order. What is left goes to the last bin.
Value make_counts(const Recipe& recipe) {
    static constexpr std::size_t wanted[] = {126, 127, 128, 1,   129, 253, 2,   254,
                                             255, 256, 125, 257, 383, 384, 511, 512};
    const std::size_t n = recipe.shape.n, all = recipe.shape.bins();
    auto list = std::make_shared<std::vector<std::uint32_t>>();
    for (std::size_t k = 0; list->size() < n; ++k) {
        const std::size_t count = std::min(wanted[k % std::size(wanted)], n - list->size());
        const std::size_t bin = k / 16 % 2 ? k * 4099 % all : (k / 16 * 64 + k % 16) % all;
        list->insert(list->end(), count, static_cast<std::uint32_t>(bin));
    }
    for (std::size_t i = n; i-- > 1;) std::swap((*list)[i], (*list)[random_bits(recipe.seed, 9, i) % (i + 1)]);
    return [=](std::size_t, std::size_t i) { return (*list)[i % n]; };
}

struct Generator {
    Value (*make)(const Recipe&);
    bool has_sigma = false;
};

const std::map<std::string, Generator> generators = {
    {"bell", {make_bell, true}},     {"two_bells", {make_two_bells, true}}, {"uniform", {make_uniform}},
    {"one_value", {make_one_value}}, {"neighbours", {make_neighbours}},     {"edges", {make_edges}},
    {"counts", {make_counts}}};

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

/// As the talk's: a bin that has reached the cap stays there.
void count_values(const std::uint32_t* from, std::size_t n, std::uint8_t* to, std::size_t bins) {
    std::fill_n(to, bins, std::uint8_t{0});
    for (std::size_t i = 0; i < n; ++i)
        if (to[from[i]] < soft_cap) ++to[from[i]];
}

// --- what students' mistakes would give ---

constexpr auto first_with_window = "04";         // the first stage with bins in shared memory
constexpr std::size_t most_explained = 1 << 26;  // bins and values of a call

std::uint8_t capped(std::uint32_t count) { return static_cast<std::uint8_t>(std::min(count, soft_cap)); }
bool fits_count(std::uint32_t count, std::uint8_t found) {
    return count < soft_cap ? found == count : found >= soft_cap;
}

using Counts = std::vector<std::uint32_t>;  // of all histograms' bins, without a cap

/// Compares the wrong output with what each mistake gives, likelier ones first, until one fits.
class Explanation {
  public:
    explicit Explanation(const Situation& situation)
        : shape_(shape_of(situation.problem)),
          values_(situation.problem.arrays[values].as<std::uint32_t>()),
          actual_(situation.actual[bins].as<std::uint8_t>()),
          before_(situation.before[bins].as<std::uint8_t>()),
          previous_(situation.previous),
          may_have_window_(situation.stage.empty() || situation.stage >= first_with_window) {
        if (actual_.size() + values_.size() > most_explained) return;
        counts_ = count([](std::size_t, std::size_t, std::uint32_t) { return true; });
        for (std::size_t b = 0; b < counts_.size(); ++b)
            if (!fits_count(counts_[b], actual_[b])) wrong_.push_back(b);
        if (wrong_.empty() || std::equal(actual_.begin(), actual_.end(), before_.begin())) return;
        const auto attempts = {&Explanation::try_nothing, &Explanation::try_other_one,   &Explanation::try_not_cleared,
                               &Explanation::try_mask,    &Explanation::try_cap_too_low, &Explanation::try_carry,
                               &Explanation::try_twice,   &Explanation::try_bit_shift,   &Explanation::try_tail_lost,
                               &Explanation::try_stride,  &Explanation::try_share,       &Explanation::try_window,
                               &Explanation::try_shifted, &Explanation::try_stale,       &Explanation::try_lost};
        for (const auto attempt : attempts)
            if (found_.empty()) (this->*attempt)();
    }

    std::vector<Hypothesis> found() && { return std::move(found_); }

  private:
    struct Bin {
        std::size_t histogram, x, y;
    };

    Bin place(std::size_t b) const {
        return {b / shape_.bins(), b % shape_.columns, b % shape_.bins() / shape_.columns};
    }

    std::string describe(std::size_t b) const {
        const Bin bin = place(b);
        return fmt::format("histogram {}, row {}, column {}", format_count(bin.histogram), bin.y, bin.x);
    }

    std::string say_counted(std::size_t b) const {
        const std::uint32_t count = counts_[b];
        return fmt::format("{} is {}, and {} {} into it", describe(b), actual_[b], format_plural(count, "value"),
                           count == 1 ? "falls" : "fall");
    }

    /// The judge compares what is predicted with what was found: these were compared here.
    void explain(std::string cause, std::string message, std::string hint) {
        found_.push_back({std::move(cause), std::move(message), std::move(hint),
                          [actual = std::vector(actual_.begin(), actual_.end())](std::vector<Array>& outputs) {
                              std::copy(actual.begin(), actual.end(), outputs[bins].as<std::uint8_t>().begin());
                              return true;
                          }});
    }

    template <class Keep>
    Counts count(Keep keep) const {
        Counts counts(shape_.histograms * shape_.bins());
        for (std::size_t h = 0; h < shape_.histograms; ++h)
            for (std::size_t i = 0; i < shape_.n; ++i) {
                const std::uint32_t bin = values_[h * shape_.n + i];
                if (keep(h, i, bin)) ++counts[h * shape_.bins() + bin];
            }
        return counts;
    }

    bool fits(const Counts& counts) const {
        for (std::size_t b = 0; b < counts.size(); ++b)
            if (!fits_count(counts[b], actual_[b])) return false;
        return true;
    }

    template <class Test>
    bool all_wrong(Test test) const {
        return std::all_of(wrong_.begin(), wrong_.end(), test);
    }

    void try_nothing() {
        if (std::any_of(actual_.begin(), actual_.end(), [](std::uint8_t one) { return one > 0; })) return;
        explain("nothing_counted", "Every bin is 0: no value is counted at all.",
                "Does each thread call the function that counts, for its values, and does this write to the bin? "
                "atomicCAS(word, seen, wanted) writes `wanted` only if the word is still `seen`. Or are the bins "
                "cleared after the values have been counted?");
    }

    /// Bins after this one in the same word.
    bool has_later_neighbour(std::size_t b) const {
        for (std::size_t later = b + 1; later % 4 && later < counts_.size(); ++later)
            if (counts_[later]) return true;
        return false;
    }

    /// Counts are missing only where a later byte of the word has some, by more than chance: that byte is not masked.
    void try_mask() {
        constexpr double most_chance = 1e-4;
        if (!all_wrong([&](std::size_t b) { return actual_[b] < counts_[b] && has_later_neighbour(b); })) return;
        std::size_t with_later = 0, used = 0;
        for (std::size_t b = 0; b < counts_.size(); ++b) {
            used += counts_[b] > 0;
            with_later += counts_[b] > 0 && has_later_neighbour(b);
        }
        const double share = static_cast<double>(with_later) / static_cast<double>(used);
        if (std::pow(share, static_cast<double>(wrong_.size())) > most_chance) return;
        explain("mask_missing",
                "Counts are missing only in bins that share their word with a later bin that is not empty: " +
                    say_counted(wrong_.front()) + ".",
                "After the shift the later bins of the word are still there, above the eight bits of this one: "
                "seen >> shift & 255 is the bin.");
    }

    /// A word that counts its bins 0, 1, 2 and 3 bits apart. Sums that are not small depend on the order of threads.
    void try_bit_shift() {
        constexpr std::uint32_t small = 64;
        std::size_t found = 0, first = 0;
        for (std::size_t b = 0; b + 3 < counts_.size(); b += 4) {
            const std::uint32_t sum = counts_[b] + 2 * counts_[b + 1] + 4 * counts_[b + 2] + 8 * counts_[b + 3];
            if (sum >= small) continue;
            if (actual_[b] != sum || actual_[b + 1] || actual_[b + 2] || actual_[b + 3]) return;
            if (sum > counts_[b] && found++ == 0) first = b;
        }
        if (found == 0) return;
        explain(
            "shifted_by_bits",
            fmt::format("All four bins of a word are counted in its first byte, 1, 2, 4 or 8 for a value: {}, {} into "
                        "the three bins after it.",
                        say_counted(first), counts_[first + 1] + counts_[first + 2] + counts_[first + 3]),
            "A bin has eight bits: bin % 4 counts bytes, so the word is shifted by bin % 4 * 8.");
    }

    /// Threads of a block take one value each, or go on in steps of more than the block.
    void try_stride() {
        if (!all_wrong([&](std::size_t b) { return actual_[b] < capped(counts_[b]); })) return;
        for (const std::size_t block : {1024, 512, 256, 128, 64, 32})
            for (const std::size_t blocks : {shape_.histograms, 2 * shape_.histograms, 4 * shape_.histograms,
                                             8 * shape_.histograms, 16 * shape_.histograms})
                if (found_.empty() && blocks > 1 && shape_.n > block) try_stride_of(block, block * blocks);
    }

    void try_stride_of(std::size_t block, std::size_t step) {
        if (!fits(count([=](std::size_t, std::size_t i, std::uint32_t) { return i % step < block; }))) return;
        const bool once = shape_.n <= step;
        explain("stride_too_long",
                once ? fmt::format("Of each histogram's {} values only the first {} are counted.",
                                   format_count(shape_.n), format_count(block))
                     : fmt::format("Of each histogram's values only {} in {} are counted.", format_count(block),
                                   format_count(step)),
                once ? "A block has fewer threads than values: does each thread go on to the value a block's size "
                       "further, until the end?"
                     : "A thread goes on by the number of threads that count the same histogram, not by that of all "
                       "blocks: gridDim.x blocks do not work on one.");
    }

    /// Bins that no value falls into hold what was there before.
    void try_not_cleared() {
        std::size_t empty = 0, first = 0;
        for (const std::size_t b : wrong_) {
            if (counts_[b] != 0) continue;
            if (actual_[b] != before_[b]) return;
            if (empty++ == 0) first = b;
        }
        if (empty == 0) return;
        std::size_t cleared = 0;
        for (std::size_t b = 0; b < counts_.size(); ++b) cleared += counts_[b] == 0 && before_[b] && !actual_[b];
        explain(
            "not_cleared",
            fmt::format("{} bins that no value falls into hold what they held before the call, the first {} in {}{}.",
                        format_count(empty), actual_[first], describe(first), cleared ? "; others are cleared" : ""),
            cleared ? "Which bins does each block clear, and do these cover the histogram? What one block clears, "
                      "others may count in only after it."
                    : "bins holds garbage before the call: set it to 0, in every call, before the first value is "
                      "counted.");
    }

    /// Bytes that went beyond 255: from there, a carry into the next bin of the word, or 0 again.
    void try_carry() {
        std::size_t wrapped = 0, carried = 0, first_wrapped = 0, first_carried = 0;
        if (all_wrong([&](std::size_t b) { return actual_[b] == 0 && counts_[b] % 256 != 0; })) return;  // just lost
        for (const std::size_t b : wrong_) {
            if (counts_[b] > 255 && actual_[b] < soft_cap) {
                if (wrapped++ == 0) first_wrapped = b;
            } else if (b % 4 && counts_[b - 1] > 255 && actual_[b] > counts_[b]) {
                if (carried++ == 0) first_carried = b;
            } else {
                return;
            }
        }
        if (carried)
            explain(
                "carry",
                fmt::format("A full byte has carried into its neighbour: {} is {}, and {} values fall into it; {} fall "
                            "into the bin before, in the same word.",
                            describe(first_carried), actual_[first_carried], format_count(counts_[first_carried]),
                            format_count(counts_[first_carried - 1])),
                "A byte may never be added to when it holds 255. Between the look at it and the atomicAdd, other "
                "threads add, too: up to one each of all that are under way.");
        else if (wrapped)
            explain("wrapped",
                    fmt::format("A bin went beyond 255 and began at 0 again: {} is {}, and {} values fall into it.",
                                describe(first_wrapped), actual_[first_wrapped], format_count(counts_[first_wrapped])),
                    "A byte holds 255 at most. Leave a bin alone from soft_cap on, whatever other threads do between "
                    "your look at it and your addition.");
    }

    void try_cap_too_low() {
        const std::uint8_t cap = actual_[wrong_.front()];
        if (cap >= soft_cap || cap == 0 || wrong_.size() < 2) return;
        if (!all_wrong([&](std::size_t b) { return actual_[b] == cap && counts_[b] > cap; })) return;
        if (all_wrong([&](std::size_t b) { return counts_[b] % 256 == cap; })) return;  // began at 0 again
        if (std::any_of(actual_.begin(), actual_.end(), [&](std::uint8_t one) { return one > cap; })) return;
        explain("cap_too_low", fmt::format("No bin goes beyond {}: counts are exact up to {}.", cap, soft_cap - 1),
                "A bin that holds less than soft_cap, 127, takes one more.");
    }

    void try_twice() {
        if (all_wrong([&](std::size_t b) { return counts_[b] && fits_count(2 * counts_[b], actual_[b]); }))
            explain("counted_twice",
                    fmt::format("{} bins hold twice their count, the first {} instead of {} in {}.",
                                format_count(wrong_.size()), actual_[wrong_.front()], counts_[wrong_.front()],
                                describe(wrong_.front())),
                    "Do two threads or two blocks count the same value, or is it counted in shared memory and in the "
                    "histogram?");
    }

    /// Histograms mixed up.
    void try_other_one() {
        if (shape_.histograms < 2) return;
        const std::size_t all = shape_.bins();
        Counts together(counts_.size()), first(counts_.size());
        for (std::size_t b = 0; b < counts_.size(); ++b) {
            together[b % all] += counts_[b];
            first[b] = counts_[b % all];
        }
        if (std::equal(together.begin(), together.begin() + static_cast<long>(all), actual_.begin(), fits_count))
            explain("one_histogram", "The values of all histograms are counted in the first one.",
                    "Histogram h begins at bins + h * rows * columns.");
        else if (fits(first))
            explain("same_values", "Every histogram is that of the first one's values.",
                    "The values of histogram h begin at values + h * n.");
    }

    void try_tail_lost() {
        const std::size_t n = shape_.n;
        const auto head = [&](std::size_t h) { return std::min(n, (4 - h * n % 4) % 4); };
        const auto lost = [&](auto keep, const char* cause, const std::string& message, const char* hint) {
            if (found_.empty() && fits(count(keep))) explain(cause, message, hint);
        };
        lost([&](std::size_t, std::size_t i, std::uint32_t) { return i < n / 4 * 4; }, "vector_tail_lost",
             fmt::format("Of each histogram's {} values only the first {} are counted: whole vectors of four.",
                         format_count(n), format_count(n / 4 * 4)),
             "n need not be a multiple of 4: count the values after the last whole vector one by one.");
        lost([&](std::size_t h, std::size_t i, std::uint32_t) { return i < head(h) + (n - head(h)) / 4 * 4; },
             "vector_tail_lost", "The values after each histogram's last whole vector of four are not counted.",
             "Up to three values are left after the vectors: count them one by one.");
        lost([&](std::size_t h, std::size_t i, std::uint32_t) { return i >= head(h); }, "head_lost",
             "The values before each histogram's first aligned vector of four are not counted.",
             "Where n is no multiple of 4, most histograms begin with up to three values that no vector holds.");
        for (std::size_t component = 0; component < 4; ++component)
            lost([&](std::size_t h, std::size_t i, std::uint32_t) { return (h * n + i) % 4 != component; },
                 "component_forgotten",
                 fmt::format("One value in four is not counted: number {} of every vector.", component),
                 "A vector of four has x, y, z and w.");
        for (const std::size_t block : {1024, 512, 256, 128, 64, 32, 4096, 2048, 8192})
            if (n >= block)
                lost([&](std::size_t, std::size_t i, std::uint32_t) { return i < n / block * block; }, "tail_lost",
                     fmt::format("Of each histogram's {} values only the first {} are counted: {} x {}.",
                                 format_count(n), format_count(n / block * block), format_count(n / block), block),
                     "n is no multiple of the block: the last threads' values are left out.");
        if (n > 1)
            lost([&](std::size_t, std::size_t i, std::uint32_t) { return i + 1 < n; }, "tail_lost",
                 "Each histogram's last value is not counted.", "Indices run from 0 to n - 1.");
    }

    /// The smallest rectangle around the wrong bins of a histogram.
    struct Box {
        std::size_t left = ~std::size_t{0}, top = left, right = 0, bottom = 0;

        void add(const Bin& bin) {
            left = std::min(left, bin.x), right = std::max(right, bin.x);
            top = std::min(top, bin.y), bottom = std::max(bottom, bin.y);
        }
    };

    /// All that is missing, and nothing else is in its place, lies in a rectangle.
    void try_window() {
        if (!may_have_window_) return;
        if (!all_wrong([&](std::size_t b) { return actual_[b] == 0 || actual_[b] == before_[b]; })) return;
        const std::size_t h = place(wrong_.front()).histogram;
        Box box;
        for (const std::size_t b : wrong_)
            if (place(b).histogram == h) box.add(place(b));
        std::size_t right_inside = 0, wrong_inside = 0, right_outside = 0;
        for (std::size_t i = 0; i < shape_.bins(); ++i) {
            const std::size_t b = h * shape_.bins() + i;
            const Bin bin = place(b);
            const bool inside = bin.x >= box.left && bin.x <= box.right && bin.y >= box.top && bin.y <= box.bottom;
            const bool right = fits_count(counts_[b], actual_[b]);
            if (inside && counts_[b]) (right ? right_inside : wrong_inside) += 1;
            if (!inside && counts_[b]) right_outside += 1;
        }
        if (right_inside || wrong_inside < 8 || !right_outside) return;
        explain(
            "window_lost",
            fmt::format("In histogram {}, all counts of rows {} to {}, columns {} to {} are missing, and all others "
                        "are there.",
                        format_count(h), box.top, box.bottom, box.left, box.right),
            "What is counted in shared memory has to be written to the histogram when all threads of the block have "
            "counted.");
    }

    using Owner = std::function<std::size_t(std::size_t b)>;

    /// Every bin of one block's share is missing.
    void try_share() {
        if (wrong_.size() < 2 || !all_wrong([&](std::size_t b) { return actual_[b] == 0; })) return;
        for (const std::size_t split : {2, 4, 8, 16, 3}) {
            const std::size_t all = shape_.bins();
            try_share_of([=](std::size_t b) { return b % all * split / all; }, split,
                         fmt::format("part {{}} of {} of the bins, counted from 0", split));
            try_share_of([=, this](std::size_t b) { return place(b).y % split; }, split,
                         fmt::format("the rows whose number modulo {} is {{}}", split));
            try_share_of([=](std::size_t b) { return b / 4 % split; }, split,
                         fmt::format("the words whose number modulo {} is {{}}", split));
            try_share_of([=](std::size_t b) { return b % split; }, split,
                         fmt::format("the bins whose number modulo {} is {{}}", split));
        }
    }

    /// Each share is there as a whole, or not at all; where several are missing, by more than chance.
    void try_share_of(const Owner& owner, std::size_t split, const std::string& which) {
        constexpr std::size_t enough = 16;  // bins that are as the first of their share is
        if (!found_.empty()) return;
        std::vector<std::size_t> right(split), missing(split);
        for (std::size_t b = 0; b < counts_.size(); ++b)
            if (counts_[b]) ++(actual_[b] ? right : missing)[owner(b)];
        std::vector<std::string> lost;
        std::size_t there = 0, gone = 0;
        for (std::size_t part = 0; part < split; ++part) {
            if (right[part] && missing[part]) return;
            if (missing[part]) lost.push_back(std::to_string(part));
            there += std::max<std::size_t>(right[part], 1) - 1;
            gone += std::max<std::size_t>(missing[part], 1) - 1;
        }
        const bool others_counted = std::any_of(right.begin(), right.end(), [](std::size_t one) { return one > 0; });
        if (!others_counted || (lost.size() > 1 && std::min(there, gone) < enough)) return;
        explain("share_lost",
                fmt::format("Nothing is counted in {}: {} missing.",
                            fmt::format(fmt::runtime(which), fmt::join(lost, ", ")),
                            lost.size() == 1 ? "one block's share is" : "these blocks' shares are"),
                "Is there a block for every share of every histogram, and does each know which share is its own? Or "
                "does a block clear others' shares, too, when these may have counted already?");
    }

    /// Counts that stand some columns or rows from where they belong.
    void try_shifted() {
        for (const long dy : {0L, 1L, -1L, 2L, -2L, 4L, -4L})
            for (const long dx : {16L, -16L, 4L, -4L, 1L, -1L, 2L, -2L, 8L, -8L, 12L, -12L, 0L})
                if (found_.empty() && (dx || dy)) try_shifted_by(dx, dy);
    }

    /// Most of the wrong bins hold the count of the bin dx columns and dy rows before them, and the others nothing.
    void try_shifted_by(long dx, long dy) {
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
        if (!shifted || filled <= 8 || moved * 4 < wrong_.size() * 3) return;
        explain("window_misplaced",
                fmt::format("{} bins hold the count of another bin, {} columns and {} rows away, the first in {}.",
                            format_count(moved), std::abs(dx), std::abs(dy), describe(wrong_.front())),
                "Counting and writing have to agree on where the window begins.");
    }

    void try_stale() {
        if (!previous_) return;
        const auto earlier = previous_->arrays[bins].as<std::uint8_t>();
        bool same = earlier.size() == actual_.size();
        for (std::size_t b = 0; same && b < earlier.size(); ++b) same = fits_count(earlier[b], actual_[b]);
        if (same)
            explain("stale_result",
                    "The histograms are those of the call before, although the values have changed since.",
                    "Nothing may be kept from one call to the next: count what values holds now.");
    }

    void try_lost() {
        std::size_t missing = 0;
        for (const std::size_t b : wrong_) {
            if (actual_[b] >= capped(counts_[b])) return;
            missing += capped(counts_[b]) - actual_[b];
        }
        explain(
            "lost_updates",
            fmt::format("{} of {} values are missing in {}, and none is too many: {}.", format_count(missing),
                        format_count(shape_.histograms * shape_.n), format_plural(wrong_.size(), "bin"),
                        say_counted(wrong_.front())),
            "Is every value looked at, and does a thread whose atomicCAS found another word try again? Is a bin "
            "cleared after another thread has counted in it, or a list full? Threads that read, add and write without "
            "an atomic on the whole word lose counts, too.");
    }

    Shape shape_;
    std::span<const std::uint32_t> values_;
    std::span<const std::uint8_t> actual_, before_;
    const Problem* previous_;
    bool may_have_window_;
    Counts counts_;
    std::vector<std::size_t> wrong_;
    std::vector<Hypothesis> found_;
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
        const Value value = generator.make({dataset, shape, seed});
        const auto all = problem.arrays[values].as<std::uint32_t>();
#pragma omp parallel for
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = value(i / shape.n, i);
        return problem;
    }

    /// A histogram after the other, or as many at a time as there are cores: then each core's bins stay in its cache.
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
            std::vector<std::uint8_t> whole(shape.bins());
            count_values(from + h * shape.n, shape.n, whole.data(), shape.bins());
            const std::size_t low = std::max(first, h * shape.bins()),
                              high = std::min(first + count, (h + 1) * shape.bins());
            std::copy_n(whole.data() + (low - h * shape.bins()), high - low, to + (low - first));
        }
        return true;
    }

    /// A soft cap: below it exact, from it on anything that is not below it.
    bool accepts(const Problem&, std::size_t, std::size_t, double expected, double actual) const override {
        return expected < soft_cap ? actual == expected : actual >= soft_cap;
    }

    /// Inputs of a pool are shifted by whole histograms: one that has half its values around another centre would be
    /// another task.
    std::size_t window_step() const override { return timed_values; }

    Cost cost(const Problem& problem) const override {
        const Shape shape = shape_of(problem);
        const double bytes = static_cast<double>(shape.histograms * (4 * shape.n + shape.bins()));
        return {bytes, bytes, 0, 1, "4 bytes a value and 1 a bin, of every histogram: a read and a write"};
    }

    std::vector<Hypothesis> hypotheses(const Situation& situation) const override {
        return Explanation(situation).found();
    }
};

}  // namespace

const Oracle* warplab_oracle() {
    static const LargeHistogram oracle;
    return &oracle;
}

}  // namespace warplab
