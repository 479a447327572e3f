#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "grader/common/image.h"
#include "grader/common/text.h"
#include "grader/judge/lab/census.h"
#include "grader/judge/lab/explain.h"
#include "grader/model/recipe.h"
#include "labs/image_histogram/bins.h"

namespace warplab {
namespace {

enum Buffer { pixels, bins };

// --- generators: each makes the part of a picture from pixel `begin` on ---

constexpr std::size_t part_pixels = 1 << 16;

struct Part {
    std::uint8_t* pixels;
    std::size_t begin, count;
    bool of_pool;
};

std::uint8_t random_byte(std::uint64_t seed, std::size_t i) {
    return static_cast<std::uint8_t>(random_bits(seed, 0, i / 8) >> (i % 8 * 8));
}

void fill_random(const Dataset&, std::uint64_t seed, Part part) {
    for (std::size_t k = 0; k < part.count; ++k) part.pixels[k] = random_byte(seed, part.begin + k);
}

/// One value, by default 0. In a pool, one pixel of each part has a random value: if all windows had the same answer,
/// code could return it without reading the pixels.
void fill_constant(const Dataset& dataset, std::uint64_t seed, Part part) {
    const auto value = read_size(dataset, "value", 0);
    if (value > 255) throw recipe_error(dataset, "\"value\" is a byte, from 0 to 255");
    std::memset(part.pixels, static_cast<int>(value), part.count);
    if (part.of_pool) part.pixels[random_bits(seed, 5, part.begin) % part.count] = random_byte(seed, part.begin);
}

/// Each pixel differs by at most 4 from the previous one; each part begins with a random value.
void fill_walk(const Dataset&, std::uint64_t seed, Part part) {
    int value = random_byte(seed ^ 1, part.begin);
    for (std::size_t k = 0; k < part.count; ++k) {
        value = std::clamp(value + random_byte(seed, part.begin + k) % 9 - 4, 0, 255);
        part.pixels[k] = static_cast<std::uint8_t>(value);
    }
}

/// One value never occurs.
void fill_gap(const Dataset&, std::uint64_t seed, Part part) {
    const std::uint8_t hole = random_byte(seed ^ 2, 0);
    for (std::size_t k = 0; k < part.count; ++k) {
        const std::uint8_t value = random_byte(seed, part.begin + k);
        part.pixels[k] = static_cast<std::uint8_t>(value == hole ? hole + 1 : value);
    }
}

/// Fifteen of sixteen pixels cycle through `values` values; the others are random.
void fill_hot(const Dataset& dataset, std::uint64_t seed, Part part) {
    const auto values = static_cast<std::size_t>(read_size(dataset, "values"));
    if (values == 0 || values > 16) throw recipe_error(dataset, "\"values\" is from 1 to 16");
    const std::uint8_t first = random_byte(seed ^ 3, 0);
    for (std::size_t k = 0; k < part.count; ++k) {
        const std::size_t i = part.begin + k;
        const bool is_random = random_byte(seed ^ 4, i) % 16 == 0;
        part.pixels[k] = is_random ? random_byte(seed, i) : static_cast<std::uint8_t>(first + 85 * (i % values));
    }
}

struct Generator {
    void (*fill)(const Dataset&, std::uint64_t seed, Part);
    const char* parameter;  // in addition to n
};

const std::map<std::string, Generator> generators = {{"random", {fill_random, "n"}},
                                                     {"constant", {fill_constant, "value"}},
                                                     {"walk", {fill_walk, "n"}},
                                                     {"gap", {fill_gap, "n"}},
                                                     {"hot", {fill_hot, "values"}}};

Problem make_problem(std::size_t n, std::size_t extra) {
    return {{static_cast<std::int64_t>(n)},
            {},
            {Array(ElementType::uint8, n + extra), Array(ElementType::uint32, Bins().size())}};
}

/// Read one channel of a picture; the seed selects it.
Problem read_picture(const Dataset& dataset, std::uint64_t seed) {
    require_only(dataset, {"file"});
    const Image picture = read_image(read_word(dataset, "file"));
    const auto channels = static_cast<std::size_t>(picture.channels);
    Problem problem = make_problem(picture.pixels(), 0);
    const auto to = problem.arrays[pixels].as<std::uint8_t>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = picture.samples[i * channels + seed % channels];
    return problem;
}

Problem generate_pixels(const Dataset& dataset, std::uint64_t seed, std::size_t extra) {
    const auto& generator = find_generator(dataset, generators, {"picture"});
    require_only(dataset, {"n", generator.parameter});
    const std::int64_t n = read_size(dataset, "n");
    if (n >= std::int64_t{1} << 32) throw recipe_error(dataset, "\"n\" has to be below 2^32, so that every count fits");
    Problem problem = make_problem(static_cast<std::size_t>(n), extra);
    const auto to = problem.arrays[pixels].as<std::uint8_t>();
    const bool of_pool = extra > 0;
    generator.fill(
        dataset, seed,
        {to.data(), 0, std::min(part_pixels, to.size()), of_pool});  // outside the parallel loop, because it may throw
#pragma omp parallel for
    for (std::size_t begin = part_pixels; begin < to.size(); begin += part_pixels)
        generator.fill(dataset, seed, {to.data() + begin, begin, std::min(part_pixels, to.size() - begin), of_pool});
    return problem;
}

// --- outputs of students' mistakes ---

constexpr auto first_with_barriers = "03";     // the first stage in which the threads of a block wait for each other
constexpr auto first_with_fetches = "05";      // the first stage in which vectors are fetched before they are counted
constexpr std::size_t max_searched = 1 << 21;  // pixels; with more, mistakes that need a long search are not tried
constexpr std::size_t max_by_place = 1 << 28;  // pixels; with more, lost bytes of words and vectors are not tried
const Nouns nouns{"pixels", "counted", 16, "last_pixel_lost"};

/// Return the nouns of a stage: before `first_with_fetches`, no stage has vectors; from `first_with_barriers` on, a
/// thread that returns early is missing at a barrier.
Nouns nouns_of(const std::string& stage) {
    Nouns words = nouns;
    if (!stage.empty() && stage < first_with_fetches) words.longest_vector = 1;
    if (!stage.empty() && stage >= first_with_barriers) words.idle = "count nothing, but reach every __syncthreads()";
    return words;
}

Bins copy_bins(const Array& array) {
    Bins copy;
    std::copy_n(array.as<std::uint32_t>().begin(), copy.size(), copy.begin());
    return copy;
}

template <class Function>
Bins make_bins(Function&& value) {
    Bins made{};
    for (std::size_t v = 0; v < made.size(); ++v) made[v] = value(v);
    return made;
}

Bins operator+(const Bins& a, const Bins& b) {
    return make_bins([&](std::size_t v) { return a[v] + b[v]; });
}
Bins operator-(const Bins& a, const Bins& b) {
    return make_bins([&](std::size_t v) { return a[v] - b[v]; });
}

std::uint64_t sum(const Bins& counts) { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

/// Compares the wrong bins with the bins that each mistake gives.
class Explanation {
  public:
    explicit Explanation(const Situation& situation)
        : situation_(situation),
          nouns_(nouns_of(situation.stage)),
          n_(static_cast<std::size_t>(situation.problem.sizes[0])),
          pixels_(situation.problem.arrays[pixels].as<std::uint8_t>().data()),
          right_(copy_bins(situation.problem.arrays[bins])),
          actual_(copy_bins(situation.actual[bins])),
          before_(copy_bins(situation.before[bins])),
          total_(sum(actual_)),
          first_(first_wrong(right_, actual_)) {
        for (std::size_t v = 0; v < actual_.size(); ++v) wrong_ += actual_[v] != right_[v];
    }

    std::vector<Hypothesis> hypotheses() {
        using E = Explanation;
        if (wrong_ == 0) return {};
        return first_fit(situation_, *this,
                         {&E::try_old_contents,
                          &E::try_bins_missing,
                          &E::try_steps,
                          &E::try_past_end,
                          &E::try_one_value,
                          &E::try_ends,
                          &E::try_columns,
                          &E::try_added_from,
                          &E::try_repeated,
                          &E::try_values,
                          &E::try_bytes,
                          &E::try_starters_fetches,
                          &E::try_shifts,
                          &E::try_small_counters,
                          &E::try_shares,
                          &E::try_halves,
                          &E::try_same_surplus,
                          &E::try_overflow,
                          &E::try_carries,
                          &E::try_lost_counts,
                          &E::try_half_steps,
                          &E::try_surplus,
                          &E::try_transposed_partials,
                          &E::try_fetches});
    }

  private:
    Bins count(std::size_t begin, std::size_t end) const {
        Bins counted{};
        count_values(pixels_ + begin, end - begin, counted);
        return counted;
    }

    template <class Function>
    Bins count_times(Function&& times) const {
        Bins counted{};
        for (std::size_t i = 0; i < n_; ++i) counted[pixels_[i]] += static_cast<std::uint32_t>(times(i));
        return counted;
    }

    Fits fits() const {
        return [this](const Reach& reach) {
            if (reach.handled(n_) != total_) return false;
            const bool is_prefix = reach.end == total_ && !reach.slices;
            return actual_ ==
                   (is_prefix ? count(0, total_) : count_times([&](std::size_t i) { return reach.times_of(i); }));
        };
    }

    // --- the contents of the bins before the call ---

    Guess try_old_contents() {
        const Bins previous = situation_.previous ? copy_bins(situation_.previous->arrays[bins]) : Bins{};
        if (n_ == 0 && actual_ == before_) return empty_not_written("bins", "each count is 0");
        // Compare with the previous call first: the bins may also have held its result before this call.
        Guess guess = match<Bins>(
            actual_,
            {{right_ + previous,
              {"not_cleared",
               "Every bin holds its count plus that of the previous call: counting continued where it had ended.",
               "Set the bins in which you count to 0 at the beginning of every call, not only of the first."}},
             {right_ + before_,
              {"not_cleared", "Every bin holds its count plus what it held before the call.",
               "bins holds garbage before the call: set it to 0, in every call, before the first block counts."
               " The arguments of cudaMemset are the address, the value and the number of bytes, in this order."}},
             {make_bins([&](std::size_t v) { return right_[v] + (v < first_ ? 0 : before_[v]); }),
              {"not_cleared",
               sentence("Only the first {} bins were set to 0; from bin {} on, each holds its count plus what it held "
                        "before the call.",
                        first_, first_),
               first_ == 64 ? "cudaMemset counts bytes: 256 bins are 256 * sizeof(unsigned) = 1,024 bytes."
                            : "There are 256 bins, for the values 0 to 255: all have to be set to 0."}}});
        return guess || n_ == 0 ? guess : guess_stale(situation_, bins, "The bins are those", "the pixels have");
    }

    Guess try_bins_missing() {
        const std::string hint =
            first_ == 255 ? "A byte has 256 values: the last one is 255, and the loop runs while bin < 256."
            : first_ == 1 ? "Does a single thread write bins? Then its loop steps by 1. If all threads of the "
                            "block do, thread t writes bins t, t + blockDim.x …, while bin < 256."
                          : sentence(
                                "Do {} threads handle one bin each? Let them step through all 256 bins: for "
                                "(bin = threadIdx.x; bin < 256; bin += blockDim.x).{}",
                                first_,
                                first_ == 64 ? " Or are bins copied? cudaMemcpy counts bytes: 256 bins are "
                                               "256 * sizeof(unsigned) = 1,024 bytes."
                                             : "");
        const auto cut = [&](const Bins& rest) {
            return make_bins([&](std::size_t v) { return v < first_ ? right_[v] : rest[v]; });
        };
        if (actual_ == make_bins([&](std::size_t v) { return right_[v] ? right_[v] : before_[v]; }))
            return Mistake{
                "bins_missing",
                "Bins of values that do not occur are never written: they hold what they held before the call.",
                "A count of 0 is an answer, too: write it."};
        if (first_ == 0) return {};
        if (are_short_from(first_))
            return Mistake{"bins_missing",
                           sentence("The bins before {} are right, and all from {} on are too small.", first_, first_),
                           hint};
        return match<Bins>(
            actual_,
            {{cut(before_),
              {"bins_missing", sentence("The bins from {} on are never written; those before are right.", first_),
               hint}},
             {cut({}),
              {"bins_missing", sentence("The bins from {} on are 0; those before are right.", first_), hint}}});
    }

    /// Return whether all counts from bin `first` on are too small, but not all 0. `first` must be a multiple of a
    /// warp, and enough bins before it must have counts.
    bool are_short_from(std::size_t first) const {
        std::size_t used = 0;
        for (std::size_t v = 0; v < first; ++v) used += right_[v] > 0;
        if (first % 32 || used < 16) return false;
        for (std::size_t v = first; v < actual_.size(); ++v)
            if (right_[v] > 0 ? actual_[v] >= right_[v] : actual_[v] > 0) return false;
        return std::accumulate(actual_.begin() + static_cast<std::ptrdiff_t>(first), actual_.end(), 0u) > 0;
    }

    // --- pixels left out, or counted more than once ---

    Guess try_past_end() {
        constexpr std::size_t max_surplus = 1 << 20;
        if (total_ <= n_ || total_ - n_ > max_surplus) return {};
        Bins extra{};
        for (std::size_t i = n_; i < total_; ++i) ++extra[situation_.beyond >> (i % 4 * 8) & 0xff];
        if (actual_ == right_ + extra)
            return Mistake{"read_past_end",
                           sentence("{} from beyond the end {} counted: {} were read, and there are {}.",
                                    format_plural(total_ - n_, "byte"), total_ - n_ == 1 ? "is" : "are", total_, n_),
                           "Pixels run from 0 to n - 1. Threads of the last block, and bytes of the last vector, may "
                           "lie past the end: the guard is i < n."};
        const std::size_t begin = n_ - std::min(n_, total_ - n_);
        const bool shows_place = !is_single_value() || n_ - begin < 1024;  // else too many could be the last ones
        if (begin && shows_place && actual_ == right_ + count(begin, n_)) return tail_twice(n_, begin, nouns_);
        return try_tail_of_every_block();
    }

    /// Each of several blocks counts the pixels after the last whole vector.
    Guess try_tail_of_every_block() const {
        constexpr std::size_t max_blocks = 4096;
        for (const std::size_t vector : {16, 4}) {
            const std::size_t tail = n_ % vector, more = tail ? (total_ - n_) / tail : 0;
            if (vector > nouns_.longest_vector || more < 2 || more >= max_blocks) continue;
            const Bins counted = count(n_ - tail, n_);
            if (actual_ !=
                make_bins([&](std::size_t v) { return right_[v] + static_cast<std::uint32_t>(more) * counted[v]; }))
                continue;
            return Mistake{"tail_twice",
                           tail == 1
                               ? sentence("The last of {} pixels is counted {} times.", n_, more + 1)
                               : sentence("The last {} of {} pixels are counted {} times each.", tail, n_, more + 1),
                           sentence("They are the pixels after the last whole vector of {}. Do all blocks count them, "
                                    "{} here? Only one may.",
                                    std::to_string(vector), more + 1)};
        }
        return {};
    }

    /// If all pixels are equal, their values do not show which of them are lost. If more than a block's pixels are
    /// lost, counters that are too small are more likely than lost blocks, which other pictures would show, too.
    bool is_single_value() const { return std::count(right_.begin(), right_.end(), 0u) == 255; }

    Guess try_one_value() {
        const std::size_t lost = n_ - total_;
        if (!is_single_value() || total_ >= n_ || lost % 256 || lost <= 1024) return {};
        return name_overflow(lost % 65536 ? 256 : 65536);
    }

    Guess try_ends() {
        if (total_ >= n_) return {};
        if (total_ == 0)
            return Mistake{"nothing_counted", "All bins are 0: no pixel is counted.",
                           "Is the kernel launched, and does it add to bins?"};
        if (count(0, total_) == actual_) {
            const Mistake mistake = name_prefix(n_, total_, nouns_);
            // If all pixels are equal, the first ones were counted only if their number is one that a mistake gives.
            if (!is_single_value() || (mistake.cause != "rest_lost" && mistake.cause != "grid_too_small"))
                return mistake;
        }
        if (count(n_ - total_, n_) != actual_) return {};
        return Mistake{"first_lost", sentence("Only the last {} of {} pixels are counted.", total_, n_),
                       "Does the kernel set the bins to 0 after other blocks have counted? __syncthreads() waits for "
                       "the threads of one block only. Set them to 0 before the launch."};
    }

    Guess try_repeated() {
        const std::size_t times = n_ ? total_ / n_ : 0;
        if (times > 1 && actual_ == make_bins([&](std::size_t v) { return times * right_[v]; }))
            return Mistake{"counted_repeatedly", sentence("Every bin holds {} times its count.", times),
                           "Does every block go through all pixels, or every thread add the block's bins? Each pixel "
                           "belongs to one thread, and each bin of a block is added by one. Or is a kernel launched "
                           "more than once?"};
        return guess_repeated(n_, nouns_, fits());
    }

    /// Only the counts of one block or of the first blocks are there, or only those of one block are missing.
    Guess try_shares() {
        if (n_ > max_searched || total_ >= n_) return {};
        if (Guess guess = guess_long_stride(n_, nouns_, fits())) return guess;
        if (Guess guess = guess_share(n_, nouns_, fits(), true)) return guess;
        const auto is_lost = [&](Reach share) {
            share.others = true;
            return fits()(share);
        };
        Guess guess = guess_share(n_, nouns_, is_lost, true);
        if (!guess) return {};
        return Mistake{
            "one_block_lost", "The pixels named here are lost, and all others are counted: " + guess->message,
            "If partial bins are added by halves and their number is odd, one of them has no partner: keep it."};
    }

    /// Partials are added in halves, rounded down, so the last of an odd number is lost.
    Guess try_halves() {
        if (n_ > max_searched || total_ >= n_) return {};
        for (const std::size_t block : common_block_sizes)
            for (std::size_t blocks = 3; blocks <= 1056 && (blocks - 1) * block < n_; ++blocks) {
                const std::vector<bool> kept = kept_by_halves(blocks);
                std::uint64_t counted = 0;
                for (std::size_t k = 0; k < blocks; ++k)
                    if (kept[k])
                        counted +=
                            Reach{.end = n_, .period = block * blocks, .first = k * block, .run = block}.handled(n_);
                if (counted != total_ ||
                    actual_ != count_times([&](std::size_t i) { return kept[i / block % blocks]; }))
                    continue;
                return Mistake{
                    "partials_lost",
                    sentence("{} of {} pixels are counted. When {} partial bins were left, or a multiple, "
                             "the last one had no partner and was lost{}.",
                             total_, n_, blocks,
                             std::count(kept.begin(), kept.end(), false) > 1 ? ", and others after it" : ""),
                    "If the number of partial bins is odd, one of them has no partner and must be kept: half = "
                    "(left + 1) / 2 stay, and left - half are added to the first of them."};
            }
        return {};
    }

    /// Blocks store their bins `blocks` elements apart, but the bins are added as if they were adjacent.
    Guess try_transposed_partials() {
        if (n_ > max_searched || total_ != n_ || situation_.stage >= first_with_fetches) return {};
        for (const std::size_t block : {256, 128, 512, 1024}) {
            const std::size_t max_blocks = std::min<std::size_t>((n_ + block - 1) / block, 2048);
            for (std::size_t blocks = 2; blocks <= max_blocks; ++blocks) {
                if (actual_ != add_transposed(block, blocks)) continue;
                return Mistake{
                    "layout_mixed",
                    sentence("The partial bins of {} blocks are stored with rows and columns exchanged: bin v "
                             "of block b at v * {} + b, where b * 256 + v is read.",
                             blocks, blocks),
                    "Each block has 256 bins next to each other in scratch: partials[blockIdx.x * bin_count + "
                    "bin]."};
            }
        }
        return {};
    }

    /// The pixels are counted in one layout of the block's bins, and these are added up in another one.
    Guess try_columns() {
        constexpr std::size_t lanes = 32, vector = 16;
        if (total_ > n_ || (!situation_.stage.empty() && situation_.stage < first_with_fetches)) return {};
        std::vector<std::uint32_t> of_lane(lanes * 256);  // counts of value v in lane l at v * lanes + l
        const std::size_t vectors = n_ / vector;
        for (std::size_t i = 0; i < n_; ++i)
            ++of_lane[pixels_[i] * lanes + (i / vector < vectors ? i / vector : i - vectors * vector) % lanes];
        for (const std::size_t kept : {31, 0})        // the last or the first element that is added
            for (const bool rotated : {true, false})  // whether lane v begins at column v, or each lane at column 0
                if (actual_ ==
                    make_bins([&](std::size_t v) { return of_lane[v * lanes + (kept + (rotated ? v : 0)) % lanes]; }))
                    return Mistake{
                        "lanes_lost", "Every bin holds the counts of one lane alone, of 32.",
                        "A bin is the sum of its 32 elements: is each of them added to the sum, with +=, and "
                        "is the sum used only after the loop?"};
        for (const bool added_by_lanes : {true, false}) {
            Bins added{};
            for (std::size_t v = 0; v < 256; ++v)
                for (std::size_t lane = 0; lane < lanes; ++lane) {
                    const std::size_t by_value = v * lanes + lane, by_lane = lane * 256 + v;
                    added[added_by_lanes ? by_value % 256 : by_lane / lanes] += of_lane[by_value];
                }
            if (added != actual_) continue;
            return Mistake{
                "layout_mixed",
                sentence("Lane l counts value v in element {} of the block's bins, and bin v adds up elements {}.",
                         std::string(added_by_lanes ? "v * 32 + l" : "l * 256 + v"),
                         std::string(added_by_lanes ? "l * 256 + v" : "v * 32 + l")),
                "Counting and adding up must use the same layout: a bin has 32 elements next to each other, one for "
                "each lane, from columns[bin * 32] on."};
        }
        return {};
    }

    Bins add_transposed(std::size_t block, std::size_t blocks) const {
        Bins added{};
        const std::size_t threads = block * blocks;
        for (std::size_t b = 0; b < blocks; ++b)
            for (std::size_t begin = b * block; begin < n_; begin += threads)
                for (std::size_t i = begin; i < std::min(begin + block, n_); ++i)
                    ++added[(pixels_[i] * blocks + b) % 256];
        return added;
    }

    /// When partial bins are added, they are read from a wrong place.
    Guess try_added_from() {
        if (n_ > max_searched || !situation_.stage.starts_with("04")) return {};
        struct Source {
            const char* words;
            std::size_t (*of)(std::size_t b, std::size_t half, std::size_t v);
        };
        static constexpr Source sources[] = {
            {"b + half * 256 + v", [](std::size_t b, std::size_t half, std::size_t v) { return b + half * 256 + v; }},
            {"b * 256 + half + v", [](std::size_t b, std::size_t half, std::size_t v) { return b * 256 + half + v; }},
            {"half * 256 + v", [](std::size_t, std::size_t half, std::size_t v) { return half * 256 + v; }},
            {"(b + half) * 256", [](std::size_t b, std::size_t half, std::size_t) { return (b + half) * 256; }},
            {"(b + 1) * 256 + v", [](std::size_t b, std::size_t, std::size_t v) { return (b + 1) * 256 + v; }}};
        for (const std::size_t block : {256, 128, 512, 1024})
            for (const std::size_t max_blocks : {128, 1056, 864, 64, 256}) {
                const std::size_t blocks = std::min((n_ + block - 1) / block, max_blocks);
                if (blocks < 2) continue;
                std::vector<std::uint32_t> partials((blocks + 1) * 256);
                for (std::size_t i = 0; i < n_; ++i) ++partials[i / block % blocks * 256 + pixels_[i]];
                for (const auto& [words, of] : sources) {
                    std::vector<std::uint32_t> sums = partials;
                    for (std::size_t remaining = blocks; remaining > 1; remaining = (remaining + 1) / 2)
                        for (std::size_t half = (remaining + 1) / 2, b = 0; b < remaining - half; ++b)
                            for (std::size_t v = 0; v < 256; ++v)
                                sums[b * 256 + v] += sums[std::min(of(b, half, v), sums.size() - 1)];
                    if (!std::equal(actual_.begin(), actual_.end(), sums.begin())) continue;
                    return Mistake{
                        "layout_mixed",
                        sentence("To bin v of partial b, the element at {} is added, with {} blocks.", words, blocks),
                        "Partial p has 256 bins, and begins at p * 256. Which partial is added to partial b, "
                        "and at which index is its bin v? Mind the parentheses."};
                }
            }
        return {};
    }

    /// A way to add partial bins in steps, the upper half of them to the lower half.
    struct Steps {
        std::size_t end = 1;   // partials that are left after the last step
        bool assigns = false;  // partials replace others instead of being added to them
        bool is_cut = false;   // after a step, left / 2 are left, rounded down
    };

    /// Return for each block which partial holds its counts after the last step; `blocks` if they were replaced.
    static std::vector<std::size_t> add_in_steps(std::size_t blocks, const Steps& steps) {
        std::vector<std::size_t> holders(blocks);
        std::iota(holders.begin(), holders.end(), 0);
        for (std::size_t left = blocks; left > steps.end;) {
            const std::size_t half = (left + 1) / 2;
            for (std::size_t& holder : holders)
                if (holder >= half && holder < left)
                    holder -= half;
                else if (steps.assigns && holder < left - half)
                    holder = blocks;
            left = steps.is_cut ? left / 2 : half;
        }
        return holders;
    }

    /// The partial bins of some blocks are not added to those of the first one.
    Guess try_steps() {
        if (n_ > max_searched || total_ >= n_ || !situation_.stage.starts_with("04")) return {};
        const std::pair<Steps, Mistake> mistakes[] = {
            {{.end = 2}, name_early_end(2)},
            {{.end = 3}, name_early_end(3)},
            {{.end = 4}, name_early_end(4)},
            {{.assigns = true},
             {"partials_lost",
              sentence("{} of {} pixels are counted: those of one block, whose partial bins replaced the others.",
                       total_, n_),
              "Does the kernel add a partial bin to another one, with +=, or does it assign?"}},
            {{.is_cut = true},
             {"partials_lost",
              sentence("{} of {} pixels are counted. When an odd number of partial bins was left, the middle one was "
                       "lost in the next step.",
                       total_, n_),
              "After a step, half = (left + 1) / 2 partial bins are left: is that the number with which the loop goes "
              "on?"}}};
        for (const std::size_t block : {256, 128, 512, 1024})
            for (const std::size_t max_blocks : {128, 1056, 864, 64, 256})
                for (const auto& [steps, mistake] : mistakes) {
                    const std::size_t blocks = std::min((n_ + block - 1) / block, max_blocks);
                    const std::vector<std::size_t> holders = add_in_steps(blocks, steps);
                    if (blocks > 1 &&
                        actual_ == count_times([&](std::size_t i) { return holders[i / block % blocks] == 0; }))
                        return mistake;
                }
        return {};
    }

    Mistake name_early_end(std::size_t left) const {
        return {"partials_lost",
                sentence("{} of {} pixels are counted: the steps ended when up to {} partial bins were left.", total_,
                         n_, left),
                "Partial bins are added until one is left: which condition ends the loop?"};
    }

    static std::vector<bool> kept_by_halves(std::size_t blocks) {
        std::vector<std::vector<std::size_t>> holds(blocks);  // [k]: the blocks whose counts partial k has
        for (std::size_t k = 0; k < blocks; ++k) holds[k] = {k};
        for (std::size_t half = blocks / 2; half > 0; half /= 2)
            for (std::size_t k = 0; k < half; ++k)
                holds[k].insert(holds[k].end(), holds[k + half].begin(), holds[k + half].end());
        std::vector<bool> kept(blocks);
        for (const std::size_t k : holds[0]) kept[k] = true;
        return kept;
    }

    // --- the wrong bin ---

    Guess try_values() {
        if (const std::uint32_t all = actual_[0];
            all > 0 && std::ranges::all_of(actual_, [&](std::uint32_t count) { return count == all; }) &&
            total_ != n_ && all != before_[0])
            return Mistake{"value_added", sentence("Every bin holds {}, whatever the picture.", all),
                           "Does each block add the same number, such as 1, to every bin? It must add its own count of "
                           "the bin: atomicAdd(&bins[bin], block_bins[bin])."};
        if (actual_ == make_bins([&](std::size_t v) { return static_cast<std::uint32_t>(v) * right_[v]; }))
            return Mistake{"value_added", "Bin v holds v times its count: each pixel adds its value.",
                           "Each pixel adds 1: atomicAdd(&bins[value], 1u)."};
        if (n_ <= max_searched) {
            Bins places{};
            for (std::size_t i = 0; i < n_; ++i) places[pixels_[i]] += static_cast<std::uint32_t>(i);
            if (actual_ == places)
                return Mistake{"value_added", "Bin v holds the sum of the places i of its pixels: each pixel adds i.",
                               "Each pixel adds 1, whatever its place: atomicAdd(&bins[value], 1u)."};
        }
        for (const std::size_t period : {256, 128, 64, 32})
            if (actual_ == make_bins([&](std::size_t v) {
                    return v < period ? Reach{.end = n_, .period = period, .first = v}.handled(n_) : 0;
                }))
                return Mistake{
                    "indexed_by_position",
                    sentence("Bin v counts the pixels at places v, v + {0}, v + {1} …, whatever their values.", period,
                             2 * period),
                    "The index of the bin is the pixel's value, pixels[i], not its place i or the thread's number."};
        static constexpr std::pair<const char*, int (*)(int)> mappings[] = {
            // -1: no bin
            {"Each pixel is counted one bin too low.", [](int v) { return v - 1; }},
            {"Each pixel is counted one bin too high.", [](int v) { return v < 255 ? v + 1 : -1; }},
            {"Each pixel is counted one bin too high, 255 in bin 0.", [](int v) { return (v + 1) % 256; }},
            {"The bins are in reverse order.", [](int v) { return 255 - v; }},
            {"Bin v holds the count of v + 128, as if pixels were signed.", [](int v) { return (v + 128) % 256; }},
            {"Two values share each bin: the pixels are halved.", [](int v) { return v / 2; }},
            {"Pixels are cut to seven bits.", [](int v) { return v % 128; }},
            {"Pixels are scaled by 255 / 256 before they are counted.", [](int v) { return v * 255 / 256; }},
            {"Black pixels are not counted.", [](int v) { return v ? v : -1; }},
            {"Pixels of 128 and more are not counted, as if they were signed.",
             [](int v) { return v < 128 ? v : -1; }}};
        for (const auto& [words, bin_of] : mappings) {
            Bins mapped{};
            for (int v = 0; v < 256; ++v)
                if (const int bin = bin_of(v); bin >= 0)
                    mapped[static_cast<std::size_t>(bin)] += right_[static_cast<std::size_t>(v)];
            if (mapped == actual_)
                return Mistake{"wrong_bin", words,
                               "The value itself is the index of its bin; pixels are unsigned char, from 0 to 255."};
        }
        return {};
    }

    /// Words and vectors contain several pixels: some are omitted, or counted twice in place of others.
    Guess try_bytes() {
        if (n_ > max_by_place) return {};
        for (const std::size_t end : {n_, n_ / 4 * 4, n_ / 16 * 16}) {  // the rest may be counted one by one
            if (end < 16) return {};
            Bins by_place[16] = {};
            for (std::size_t i = 0; i < end; ++i) ++by_place[i % 16][pixels_[i]];
            for (const auto& [period, size] : {std::pair<std::size_t, std::size_t>{4, 1}, {16, 4}, {16, 1}}) {
                std::vector<Bins> parts(period / size);
                for (std::size_t i = 0; i < 16; ++i) parts[i % period / size] = parts[i % period / size] + by_place[i];
                if (Guess guess = try_parts(parts, count(end, n_), period, size)) return guess;
            }
        }
        return {};
    }

    bool may_have_fetches() const {
        return n_ <= max_searched && total_ == n_ &&
               (situation_.stage.empty() || situation_.stage >= first_with_fetches);
    }

    /// In each step, a thread counts two arrays of vectors, and one of them is fetched from a wrong place. Of several
    /// grids that explain the bins, the starter's is the likeliest.
    Guess try_starters_fetches() {
        if (!may_have_fetches()) return {};
        return try_fetch(vector_sums(), 2, 512 * std::max<std::size_t>(n_ / 16384, 1));
    }

    Guess try_fetches() {
        constexpr std::size_t vector = 16, max_blocks = 64;
        if (!may_have_fetches()) return {};
        const std::vector<std::uint64_t> sums = vector_sums();
        for (const std::size_t ahead : {2, 1, 4})
            for (const std::size_t block : {512, 256, 1024, 128})
                for (std::size_t blocks = 1; blocks <= max_blocks && blocks * block * ahead < n_ / vector; ++blocks)
                    if (Guess guess = try_fetch(sums, ahead, blocks * block)) return guess;
        return {};
    }

    /// Return a hash of each whole vector's bins, so that the sum of all hashes identifies the sum of all bins.
    std::vector<std::uint64_t> vector_sums() const {
        std::vector<std::uint64_t> sums(n_ / 16);
        for (std::size_t i = 0; i < sums.size() * 16; ++i) sums[i / 16] += random_bits(0, 0, pixels_[i]);
        return sums;
    }

    /// Vectors past the end, which are read as the last one, are counted. Or: in each step, a thread counts two arrays
    /// of vectors, but the next step begins only one array further, so all vectors after the first array are counted
    /// once more, with what was fetched for the array after that.
    Guess try_half_steps() {
        constexpr std::size_t vector = 16;
        const std::size_t surplus = total_ > n_ ? (total_ - n_) / vector : 0, vectors = n_ / vector;
        const bool may_fetch = situation_.stage.empty() || situation_.stage >= first_with_fetches;
        if (!may_fetch || surplus == 0 || surplus >= vectors || n_ > max_searched) return {};
        const std::vector<std::uint64_t> sums = vector_sums();
        const std::size_t array = vectors - surplus;
        std::uint64_t more = 0;
        for (std::size_t v = array; v < vectors; ++v) more += sums[std::min(v + array, vectors - 1)];
        constexpr std::size_t min_block = 128;
        if (more == hash_of_difference() && array % min_block == 0) return name_half_step(array);
        if (surplus * sums.back() == hash_of_difference())
            return Mistake{
                "counted_too_often",
                sentence("The last whole vector of 16 pixels is counted {} more.", format_plural(surplus, "time")),
                "Vectors past the end are read as the last one, and must not be counted: is it tested for each vector "
                "that is counted, with its own number?"};
        return {};
    }

    Mistake name_half_step(std::size_t array) const {
        return Mistake{
            "counted_too_often",
            sentence("After the first {} vectors of 16 pixels, each step counts an array of vectors again: together "
                     "the bins hold {} counts for {} pixels.",
                     array, total_, n_),
            "A step counts two arrays of AHEAD vectors: by how many vectors does the loop advance to the next step?"};
    }

    std::uint64_t hash_of_difference() const {
        std::uint64_t difference = 0;
        for (std::size_t v = 0; v < actual_.size(); ++v)
            difference += (std::uint64_t{actual_[v]} - right_[v]) * random_bits(0, 0, v);
        return difference;
    }

    /// Test whether one of the two arrays is fetched from a wrong place. `stride`: the number of threads. Each array
    /// has `ahead` vectors; the first `ahead` vectors that a thread counts in a step are array a.
    Guess try_fetch(const std::vector<std::uint64_t>& sums, std::size_t ahead, std::size_t stride) const {
        const std::uint64_t difference = hash_of_difference();
        for (const bool is_second : {true, false})
            for (std::size_t from = 0; from <= 4 * ahead; ++from) {
                const std::size_t right_from = is_second ? ahead : 2 * ahead;
                if (from == right_from) continue;
                std::uint64_t sum = 0;
                for (std::size_t v = is_second ? 0 : 2 * ahead * stride; v < sums.size(); ++v) {
                    if ((v / stride / ahead % 2 == 1) != is_second) continue;
                    const std::size_t fetched = std::min(v + from * stride - right_from * stride, sums.size() - 1);
                    sum += sums[fetched] - sums[v];
                }
                if (sum != difference) continue;
                return Mistake{
                    "wrong_fetch",
                    sentence("Of the two arrays of {} vectors that a thread counts in a step, {} is fetched from first "
                             "+ {} * stride on, and counted as if from first + {} * stride on.",
                             ahead, is_second ? "the second" : "the first one of the next step", from, right_from),
                    "An array of AHEAD vectors, `stride` apart, ends where the next one begins: compare the place of "
                    "each fetch with that of the tally of the same array."};
            }
        return {};
    }

    /// One of the four values in each word is read from a wrong bit.
    Guess try_shifts() {
        if (n_ > max_searched) return {};
        const std::size_t words = n_ / 4;
        for (const std::size_t end : {words, n_ / 16 * 4}) {  // the rest may be counted one by one
            if (end == 0) return {};
            for (unsigned place = 0; place < 4; ++place) {
                const Bins others = right_ - count_shifted(end, 8 * place);
                for (int off : {-1, 1, -2, 2, -4, 4, -7, 7}) {
                    const int bit = static_cast<int>(8 * place) + off;
                    if (bit < 0 || bit > 31 || actual_ != others + count_shifted(end, static_cast<unsigned>(bit)))
                        continue;
                    return Mistake{
                        "bytes_lost",
                        sentence("Of every four pixels the one in byte {0} of a word is wrong: its value is taken from "
                                 "bit {1} of the word on, not from bit {2}.",
                                 place, static_cast<unsigned>(bit), 8 * place),
                        "Byte k of a word begins at bit 8 * k. Compare the four shifts: each differs from the one "
                        "before by 8 bits."};
                }
            }
        }
        return {};
    }

    /// Count the values that the 8 bits from bit `shift` on have in the first `words` words of four pixels.
    Bins count_shifted(std::size_t words, unsigned shift) const {
        Bins counted{};
        for (std::size_t w = 0; w < words; ++w) {
            std::uint32_t word = 0;
            for (unsigned k = 0; k < 4; ++k) word |= std::uint32_t{pixels_[4 * w + k]} << 8 * k;
            ++counted[word >> shift & 255];
        }
        return counted;
    }

    Guess try_parts(const std::vector<Bins>& parts, const Bins& rest, std::size_t period, std::size_t size) const {
        const auto lost = [](const std::string& message) {
            return Mistake{"bytes_lost", message,
                           "A word has four bytes and a vector of four words sixteen: each is counted once. Bytes 0 to "
                           "3 of a word are word & 255, word >> 8 & 255, word >> 16 & 255 and word >> 24."};
        };
        for (std::size_t a = 0; a < parts.size(); ++a) {
            Reach part{.end = n_, .period = period, .first = a * size, .run = size};
            if (actual_ == parts[a] + rest) return lost(describe_part(part, nouns_));
            part.others = true;
            if (actual_ == right_ - parts[a]) return lost(describe_part(part, nouns_));
            for (std::size_t b = 0; b < parts.size(); ++b)
                if (a != b && actual_ == right_ - parts[a] + parts[b])
                    return lost(sentence("Of every {} pixels {} {} counted twice, and {} not at all.", period,
                                         name_numbers(b * size, size), size == 1 ? "is" : "are",
                                         name_numbers(a * size, size)));
        }
        return {};
    }

    // --- counters that are too small ---

    Guess try_small_counters() {
        static constexpr std::pair<const char*, std::uint32_t (*)(std::uint32_t)> counters[] = {
            {"Counts end at 255.", [](std::uint32_t c) { return std::min(c, 255u); }},
            {"Counts end at 65,535.", [](std::uint32_t c) { return std::min(c, 65535u); }},
            {"Counts wrap around at 256.", [](std::uint32_t c) { return c % 256; }},
            {"Counts wrap around at 65,536.", [](std::uint32_t c) { return c % 65536; }}};
        for (const auto& [words, holds] : counters)
            if (actual_ == make_bins([&](std::size_t v) { return holds(right_[v]); }))
                return Mistake{"counter_overflow", words, "Count in unsigned ints of 32 bits."};
        return {};
    }

    /// The counters of blocks or threads wrapped around individually.
    Guess try_overflow() {
        std::uint32_t common = 0;
        for (std::size_t v = 0; v < actual_.size(); ++v) {
            if (actual_[v] > right_[v]) return {};
            common = std::gcd(common, right_[v] - actual_[v]);
        }
        if (common % 256 || wrong_ < 3) return {};
        return name_overflow(common % 65536 ? 256 : 65536);
    }

    std::string wrong_bins_are() const { return format_plural(wrong_, "bin") + (wrong_ == 1 ? " is" : " are"); }

    Mistake name_overflow(std::uint32_t limit) const {
        // Many counters of 8 bits that wrap around equally often also lose a multiple of 65,536.
        return {"counter_overflow", sentence("{} short by a multiple of {}.", wrong_bins_are(), limit),
                limit == 256 ? "Counters of 8 bits wrap around at 256: add them up before they can."
                             : "Counters of 16 bits wrap around at 65,536, and counters of 8 bits at 256: add them up "
                               "before they can."};
    }

    /// Counters are packed into words: each counter that exceeds its limit adds 1 to the next one.
    Guess try_carries() {
        constexpr std::uint32_t limit = 65536;
        std::size_t carrying = 0;
        for (std::size_t v = 0; v < actual_.size(); v += 2) {
            const std::uint32_t lost = right_[v] - actual_[v], carries = lost / limit;
            const std::uint32_t lost_above = right_[v + 1] + carries - actual_[v + 1];
            if (lost > right_[v] || lost_above > right_[v + 1] || lost % limit || lost_above % limit) return {};
            carrying += carries != 0;
        }
        if (carrying == 0) return {};
        return Mistake{"counter_overflow",
                       sentence("{} short by a multiple of 65,536, and the next bin has 1 too many for each.",
                                format_plural(carrying, "bin") + (carrying == 1 ? " is" : " are")),
                       "Two counters of 16 bits in a word: one that reaches 65,536 adds 1 to its neighbour. Add them "
                       "up before they can."};
    }

    // --- mistakes whose results differ from run to run ---

    /// Shared memory began with the same garbage in every word.
    Guess try_same_surplus() {
        const std::uint32_t surplus = actual_[first_] - right_[first_];
        if (actual_ != make_bins([&](std::size_t v) { return right_[v] + (v < first_ ? 0 : surplus); })) return {};
        if (first_ == 0 && surplus == (surplus & 0xff) * 0x01010101u)
            return Mistake{
                "wrong_clear",
                sentence("Every bin is too large by {}: each of its bytes began with {}.", surplus, surplus & 0xff),
                "cudaMemset and memset set bytes, not words: use the value 0."};
        constexpr std::uint32_t max_blocks = 1 << 16;
        if (first_ == 0 && surplus < max_blocks)
            return Mistake{"value_added", sentence("Every bin is too large by the same number, {}.", surplus),
                           "Does each bin begin with 0, and does a block add its own count of the bin and nothing "
                           "else? Is this the number of blocks?"};
        return Mistake{"shared_not_cleared",
                       sentence("{} too large by the same number, {}, modulo 2^32.",
                                first_ == 0 ? "Every bin is" : sentence("The bins from {} on are", first_), surplus),
                       "Shared memory holds garbage when a block starts: set all 256 of its bins to 0, then "
                       "__syncthreads(), then count."};
    }

    Guess try_lost_counts() {
        if (!std::equal(actual_.begin(), actual_.end(), right_.begin(), std::less_equal<>())) return {};
        return Mistake{
            "lost_counts",
            sentence("Counts are lost: together the bins hold {} of {} pixels. {} have too few, none too many.", total_,
                     n_, format_plural(wrong_, "bin")),
            "++bins[v] reads, adds and writes: threads that do so at the same time lose counts, in shared memory, too. "
            "Use atomicAdd. Or is a block's bin added before all its threads have counted (__syncthreads())? Or are "
            "the bins set to 0 while other blocks count already? Do that before the launch."};
    }

    Guess try_surplus() {
        if (!std::equal(right_.begin(), right_.end(), actual_.begin(), std::less_equal<>())) return {};
        for (std::size_t v = 0; v < actual_.size(); ++v)
            if (actual_[v] != right_[v] && actual_[v] == before_[v]) return {};  // never written
        std::uint64_t of_values = 0;
        for (std::size_t v = 0; v < right_.size(); ++v) of_values += std::uint64_t{v} * right_[v];
        if (total_ == of_values && total_ != n_)
            return Mistake{"value_added",
                           sentence("Together the bins hold {} counts for {} pixels: that is the sum of all pixels' "
                                    "values.",
                                    total_, n_),
                           "The value of a pixel is the index of its bin, and each pixel adds 1: "
                           "atomicAdd(&bins[value], 1u)."};
        return Mistake{"counted_too_often",
                       sentence("{} too many, none too few: together they hold {} counts for {} pixels.",
                                format_plural(wrong_, "bin") + (wrong_ == 1 ? " has" : " have"), total_, n_),
                       "Were a block's bins in shared memory set to 0, and did all threads wait for that "
                       "(__syncthreads())? Or do two threads count the same pixel, "
                       "because the step of the loop is not gridDim.x * blockDim.x?"};
    }

    const Situation& situation_;
    Nouns nouns_;
    std::size_t n_;
    const std::uint8_t* pixels_;
    Bins right_, actual_, before_;
    std::uint64_t total_;            // the sum of the counts in actual_
    std::size_t first_, wrong_ = 0;  // the first wrong bin, and the number of wrong bins
};

class ImageHistogram : public Oracle {
  public:
    Problem generate(const Dataset& dataset, std::uint64_t seed, std::size_t extra) const override {
        return dataset.generator == "picture" ? read_picture(dataset, seed) : generate_pixels(dataset, seed, extra);
    }

    void reference(Problem& problem, Execution how) const override {
        const std::uint8_t* from = problem.arrays[pixels].as<std::uint8_t>().data();
        const auto n = static_cast<std::size_t>(problem.sizes[0]);
        Bins counted{};
        if (how == Execution::openmp)
            counted = count_values_openmp(from, n);
        else
            count_values(from, n, counted);
        std::copy(counted.begin(), counted.end(), problem.arrays[bins].as<std::uint32_t>().begin());
    }

    Cost cost(const Problem& problem) const override {
        const double n = static_cast<double>(problem.sizes[0]);
        const double bytes = n + sizeof(Bins);
        return {bytes, bytes, n, 1, "n: each pixel is read once, and the bins are few"};
    }

    std::vector<Hypothesis> hypotheses(const Situation& situation) const override {
        return Explanation(situation).hypotheses();
    }

    std::string investigate(const Situation& situation, const Experiment& call) const override {
        Histogram histogram;
        histogram.n = static_cast<std::size_t>(situation.problem.sizes[0]);
        histogram.values = std::tuple_size_v<Bins>;
        histogram.output = bins;
        histogram.element = "pixel";
        histogram.set = [](Problem& problem, std::size_t i, std::uint32_t value) {
            problem.arrays[pixels].as<std::uint8_t>()[i] = static_cast<std::uint8_t>(value);
        };
        histogram.bin = [](std::size_t, std::uint32_t value) { return value; };
        histogram.name = [](std::size_t bin) { return sentence("bin {}", bin); };
        return investigate_counts(histogram, nouns, situation.problem, call);
    }
};

}  // namespace

const Oracle* warplab_oracle() {
    static const ImageHistogram oracle;
    return &oracle;
}

}  // namespace warplab
