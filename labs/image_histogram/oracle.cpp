#include "grader/judge/lab/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "grader/common/image.h"
#include "grader/common/text.h"
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
};

std::uint8_t random_byte(std::uint64_t seed, std::size_t i) {
    return static_cast<std::uint8_t>(random_bits(seed, 0, i / 8) >> (i % 8 * 8));
}

/// Any value.
void fill_random(const Dataset&, std::uint64_t seed, Part part) {
    for (std::size_t k = 0; k < part.count; ++k) part.pixels[k] = random_byte(seed, part.begin + k);
}

/// One value, 0 when the dataset names none.
void fill_constant(const Dataset& dataset, std::uint64_t, Part part) {
    const auto value = read_size(dataset, "value", 0);
    if (value > 255) throw recipe_error(dataset, "\"value\" is a byte, from 0 to 255");
    std::memset(part.pixels, static_cast<int>(value), part.count);
}

/// Each pixel is at most 4 off the one before; a part begins anywhere.
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

/// Fifteen of sixteen pixels have the first of `values` values, the second, and so on by turns; the others have any.
void fill_hot(const Dataset& dataset, std::uint64_t seed, Part part) {
    const auto values = static_cast<std::size_t>(read_size(dataset, "values"));
    if (values == 0 || values > 16) throw recipe_error(dataset, "\"values\" is from 1 to 16");
    const std::uint8_t first = random_byte(seed ^ 3, 0);
    for (std::size_t k = 0; k < part.count; ++k) {
        const std::size_t i = part.begin + k;
        const bool any = random_byte(seed ^ 4, i) % 16 == 0;
        part.pixels[k] = any ? random_byte(seed, i) : static_cast<std::uint8_t>(first + 85 * (i % values));
    }
}

struct Generator {
    void (*fill)(const Dataset&, std::uint64_t seed, Part);
    const char* parameter;  // beside n
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

/// One channel of a picture, drawn by the seed.
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
    generator.fill(dataset, seed, {to.data(), 0, std::min(part_pixels, to.size())});  // may throw: not below
#pragma omp parallel for
    for (std::size_t begin = part_pixels; begin < to.size(); begin += part_pixels)
        generator.fill(dataset, seed, {to.data() + begin, begin, std::min(part_pixels, to.size() - begin)});
    return problem;
}

// --- what students' mistakes would give ---

constexpr std::size_t usual_blocks[] = {256, 128, 512, 1024, 64, 32};
// Pixels up to which every block's share is tried, and every place in a vector.
constexpr std::size_t most_searched = 1 << 21, most_by_place = 1 << 28;

Bins copy_bins(const Array& array) {
    Bins copy;
    std::copy_n(array.as<std::uint32_t>().begin(), copy.size(), copy.begin());
    return copy;
}

Bins operator+(Bins a, const Bins& b) {
    for (std::size_t v = 0; v < a.size(); ++v) a[v] += b[v];
    return a;
}

Bins operator-(Bins a, const Bins& b) {
    for (std::size_t v = 0; v < a.size(); ++v) a[v] -= b[v];
    return a;
}

Bins operator*(std::uint32_t factor, Bins a) {
    for (std::uint32_t& count : a) count *= factor;
    return a;
}

template <class Function>
Bins for_each_bin(Function&& value) {
    Bins made{};
    for (std::size_t v = 0; v < made.size(); ++v) made[v] = value(v);
    return made;
}

std::uint64_t sum(const Bins& counts) { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

std::string blocks_of(std::size_t count, std::size_t block) {
    return fmt::format("{} = {} x {}", format_count(count), format_count(count / block), block);
}

/// Pixels that block k of a grid counts: every blocks-th piece of `block` pixels, from the k-th on.
struct Share {
    std::size_t block, blocks, k;

    std::size_t count(std::size_t n) const {
        const std::size_t step = block * blocks, whole = n / step * block, rest = n % step;
        return whole + std::clamp(rest, k * block, (k + 1) * block) - k * block;
    }
};

/// Compares the wrong bins with what each mistake gives, likelier ones first, until one fits.
class Explanation {
  public:
    explicit Explanation(const Situation& situation)
        : n_(static_cast<std::size_t>(situation.problem.sizes[0])),
          pixels_(situation.problem.arrays[pixels].as<std::uint8_t>().data()),
          right_(copy_bins(situation.problem.arrays[bins])),
          actual_(copy_bins(situation.actual[bins])),
          before_(copy_bins(situation.before[bins])),
          total_(sum(actual_)),
          beyond_(situation.beyond) {
        if (actual_ == right_) return;
        if (situation.previous) previous_ = copy_bins(situation.previous->arrays[bins]);
        const auto attempts = {
            &Explanation::try_empty,          &Explanation::try_not_cleared,  &Explanation::try_bins_missing,
            &Explanation::try_stale,          &Explanation::try_past_end,     &Explanation::try_one_value,
            &Explanation::try_first_pixels,   &Explanation::try_last_pixels,  &Explanation::try_repeated,
            &Explanation::try_positions,      &Explanation::try_values,       &Explanation::try_bytes,
            &Explanation::try_small_counters, &Explanation::try_long_stride,  &Explanation::try_shares,
            &Explanation::try_halves,         &Explanation::try_same_surplus, &Explanation::try_overflow,
            &Explanation::try_carries,        &Explanation::try_lost_counts,  &Explanation::try_surplus};
        for (const auto attempt : attempts)
            if (found_.empty()) (this->*attempt)();
    }

    std::vector<Hypothesis> found() && { return std::move(found_); }

  private:
    void suspect(const Bins& predicted, std::string cause, std::string message, std::string hint) {
        if (!found_.empty() || predicted != actual_) return;
        found_.push_back(
            {std::move(cause), std::move(message), std::move(hint), [predicted](std::vector<Array>& outputs) {
                 std::copy(predicted.begin(), predicted.end(), outputs[bins].as<std::uint32_t>().begin());
                 return true;
             }});
    }

    Bins count(std::size_t begin, std::size_t end) const {
        Bins counted{};
        count_values(pixels_ + begin, end - begin, counted);
        return counted;
    }

    Bins count(const Share& share) const {
        Bins counted{};
        for (std::size_t begin = share.k * share.block; begin < n_; begin += share.block * share.blocks)
            for (std::size_t i = begin; i < std::min(n_, begin + share.block); ++i) ++counted[pixels_[i]];
        return counted;
    }

    template <class Function>
    Bins count_where(Function&& counts) const {
        Bins counted{};
        for (std::size_t i = 0; i < n_; ++i)
            if (counts(i)) ++counted[pixels_[i]];
        return counted;
    }

    std::string pixels_of(std::uint64_t some) const {
        return fmt::format("{} of {} pixels", format_count(some), format_count(n_));
    }

    // --- what the bins held before ---

    void try_empty() {
        if (n_ == 0)
            suspect(before_, "empty_not_written",
                    "For n = 0 the bins still hold what they held before the call: each has to be set to 0.",
                    "Set the bins to 0 before you return early.");
    }

    void try_not_cleared() {
        // First, for a second call finds in the bins what the first one left.
        if (previous_ && sum(*previous_) > 0)
            suspect(right_ + *previous_, "not_cleared",
                    "Every bin holds its count plus that of the call before: counting went on where it had ended.",
                    "What is counted in has to be 0 at the beginning of every call, not only of the first.");
        suspect(right_ + before_, "not_cleared", "Every bin holds its count plus what it held before the call.",
                "bins holds garbage before the call: set it to 0, in every call, before the first block counts.");
        const std::size_t first = first_wrong();
        suspect(for_each_bin([&](std::size_t v) { return right_[v] + (v < first ? 0 : before_[v]); }), "not_cleared",
                fmt::format("Only the first {} bins were set to 0; from bin {} on, each holds its count plus what it "
                            "held before the call.",
                            first, first),
                first == 64 ? "cudaMemset counts bytes: 256 bins are 256 * sizeof(unsigned) = 1,024 bytes."
                            : "There are 256 bins, for the values 0 to 255: all have to be set to 0.");
    }

    std::size_t first_wrong() const {
        return static_cast<std::size_t>(std::mismatch(right_.begin(), right_.end(), actual_.begin()).first -
                                        right_.begin());
    }

    void try_bins_missing() {
        suspect(for_each_bin([&](std::size_t v) { return right_[v] ? right_[v] : before_[v]; }), "bins_missing",
                "Bins of values that do not occur are never written: they hold what they held before the call.",
                "A count of 0 is an answer, too: write it.");
        const std::size_t first = first_wrong();
        if (first == 0) return;
        const std::string hint =
            first == 255 ? "A byte has 256 values: the last one is 255, and the loop runs while bin < 256."
                         : fmt::format(
                               "Do {} threads handle one bin each? Let them step through all 256 bins: for (bin "
                               "= threadIdx.x; bin < 256; bin += blockDim.x).",
                               first);
        suspect(for_each_bin([&](std::size_t v) { return v < first ? right_[v] : before_[v]; }), "bins_missing",
                fmt::format("The bins from {} on are never written; those before are right.", first), hint);
        suspect(for_each_bin([&](std::size_t v) { return v < first ? right_[v] : 0; }), "bins_missing",
                fmt::format("The bins from {} on are 0; those before are right.", first), hint);
    }

    void try_stale() {
        if (previous_)
            suspect(*previous_, "stale_result",
                    "The bins are those of the call before, although the pixels have changed since.",
                    "Nothing may be kept from one call to the next that depends on the pixels.");
    }

    // --- pixels left out, or counted more than once ---

    void try_past_end() {
        constexpr std::size_t most = 1 << 20;
        if (total_ <= n_ || total_ - n_ > most) return;
        Bins extra{};
        for (std::size_t i = n_; i < total_; ++i) ++extra[beyond_ >> (i % 4 * 8) & 0xff];
        suspect(right_ + extra, "read_past_end",
                fmt::format("{} from beyond the end {} counted: {} were read, and there are {}.",
                            format_plural(total_ - n_, "byte"), total_ - n_ == 1 ? "is" : "are", format_count(total_),
                            format_count(n_)),
                "Pixels run from 0 to n - 1. Threads of the last block, and bytes of the last vector, may lie past the "
                "end: the guard is i < n.");
        if (total_ - n_ < n_)
            suspect(right_ + count(n_ - (total_ - n_), n_), "tail_twice",
                    fmt::format("The last {} pixels are counted twice.", format_count(total_ - n_)),
                    "What is left after the whole vectors or blocks is counted by one thread each, once.");
    }

    /// Where all pixels are alike, what is lost cannot be told by its values: beyond a block's size, small counters are
    /// likelier than the loss of blocks, which other pictures show.
    void try_one_value() {
        const std::size_t lost = n_ - total_;
        const bool one = std::count(right_.begin(), right_.end(), 0u) == 255;
        if (one && total_ < n_ && lost % 256 == 0 && lost > 1024)
            suspect(actual_, "counter_overflow", short_words(1, lost % 65536 ? 256 : 65536),
                    overflow_hint(lost % 65536 ? 256 : 65536));
    }

    void try_first_pixels() {
        if (total_ >= n_) return;
        const Bins first = count(0, total_);
        if (first != actual_) return;
        const std::size_t lost = n_ - total_;
        const std::string counts = fmt::format("Only the first {} are counted", pixels_of(total_));
        if (total_ == 0)
            return suspect(first, "nothing_counted", "All bins are 0: no pixel is counted.",
                           "Is the kernel launched, and does it add to bins?");
        for (const std::size_t vector : {4, 8, 16})
            if (lost < vector && total_ % vector == 0)
                return suspect(
                    first, "vector_tail_lost",
                    fmt::format("{}, whole groups of {}. The last {} left out.", counts, vector,
                                lost == 1 ? "one is" : fmt::format("{} are", lost)),
                    fmt::format("n need not be a multiple of {}: the last pixels are counted one by one.", vector));
        if (lost == 1)
            return suspect(first, "last_pixel_lost", counts + ".", "The last pixel is n - 1: the guard is i < n.");
        for (const std::size_t block : usual_blocks)
            if (lost < block && total_ % block == 0)
                return suspect(first, "tail_lost",
                               fmt::format("{} ({}): {} / {} rounds down, and the last {} have no thread.", counts,
                                           blocks_of(total_, block), format_count(n_), block, lost),
                               fmt::format("Round the number of blocks up, (n + {}) / {}, and let threads past the end "
                                           "do nothing.",
                                           block - 1, block));
        suspect(first, total_ <= 1024 ? "one_block_only" : "grid_too_small", counts + ".",
                "Either launch a thread for every pixel, or let each thread loop on: i += gridDim.x * blockDim.x.");
    }

    void try_last_pixels() {
        if (total_ >= n_ || total_ == 0) return;
        suspect(count(n_ - total_, n_), "first_lost", fmt::format("Only the last {} are counted.", pixels_of(total_)),
                "Does the kernel set the bins to 0 after other blocks have counted? __syncthreads() waits for the "
                "threads of one block only. Set them to 0 before the launch.");
    }

    void try_repeated() {
        const auto largest = std::max_element(right_.begin(), right_.end()) - right_.begin();
        const std::uint32_t most = right_[static_cast<std::size_t>(largest)];
        const std::uint32_t times = most ? actual_[static_cast<std::size_t>(largest)] / most : 0;
        if (times > 1)
            suspect(times * right_, "counted_repeatedly",
                    fmt::format("Every bin holds {} times its count.", format_count(times)),
                    "Does every block go through all pixels, or every thread add the block's bins? Each pixel belongs "
                    "to one thread, and each bin of a block is added by one.");
        for (const std::size_t block : usual_blocks)
            if (block < n_ && total_ % block == 0 && total_ / block < 1 << 24)
                suspect(static_cast<std::uint32_t>(total_ / block) * count(0, block), "block_index_forgotten",
                        fmt::format("The first {} pixels are counted {} times, and no others.", block,
                                    format_count(total_ / block)),
                        "Which pixel a thread counts depends on its block: blockIdx.x * blockDim.x + threadIdx.x.");
    }

    /// A stride of twice, four times … the number of threads, which is whole blocks.
    void try_long_stride() {
        if (n_ > most_searched || total_ >= n_) return;
        for (const std::size_t block : usual_blocks)
            for (std::size_t blocks = 1; blocks <= 2048 && block * blocks < n_; ++blocks)
                for (const std::size_t times : {2, 4, 8}) {
                    const std::size_t threads = block * blocks;
                    if (Share{threads, times, 0}.count(n_) != total_) continue;
                    suspect(count(Share{threads, times, 0}), "stride_too_long",
                            fmt::format("Of every {} pixels only the first {} are counted.",
                                        format_count(times * threads), format_count(threads)),
                            "The stride is the number of threads in the grid, gridDim.x * blockDim.x.");
                }
    }

    /// What one block counted is all there is, or is all that is missing.
    void try_shares() {
        if (n_ > most_searched || total_ >= n_ || n_ == 0) return;
        for (const std::size_t block : usual_blocks) {
            const std::size_t pieces = (n_ + block - 1) / block;
            for (std::size_t k = 0; k < pieces && found_.empty(); ++k) try_share({block, pieces, k});
            for (std::size_t blocks = std::min<std::size_t>(pieces, 4096); blocks > 1 && found_.empty(); --blocks)
                for (const std::size_t k : {blocks - 1, std::size_t{0}, blocks / 2}) try_share({block, blocks, k});
        }
    }

    void try_share(const Share& share) {
        const std::size_t pixels = share.count(n_);
        const std::string words =
            fmt::format("of block {} of {}, {} pixels", share.k, format_count(share.blocks), format_count(pixels));
        if (pixels == total_)
            suspect(count(share), "one_block_only", fmt::format("The bins are those {}.", words),
                    "Blocks overwrite each other's counts, or set the bins to 0 when others have counted already: set "
                    "them to 0 "
                    "before the launch, and let every block add to them with atomicAdd.");
        else if (pixels == n_ - total_)
            suspect(right_ - count(share), "one_block_lost", fmt::format("All is there but the bins {}.", words),
                    "When partial bins are added by halves and their number is odd, one has no partner: it has to be "
                    "kept.");
    }

    /// Partials are added by halves, rounded down: of an odd number, the last is lost.
    void try_halves() {
        if (n_ > most_searched || total_ >= n_) return;
        for (const std::size_t block : usual_blocks)
            for (std::size_t blocks = 3; blocks <= 1056 && (blocks - 1) * block < n_ && found_.empty(); ++blocks) {
                const std::vector<bool> kept = kept_by_halves(blocks);
                std::uint64_t counted = 0;
                for (std::size_t k = 0; k < blocks; ++k) counted += kept[k] ? Share{block, blocks, k}.count(n_) : 0;
                if (counted != total_) continue;
                suspect(count_where([&](std::size_t i) { return kept[i / block % blocks]; }), "partials_lost",
                        fmt::format("{} are counted. When {} partial bins were left, or a multiple, the last one had "
                                    "no partner and was lost{}.",
                                    pixels_of(total_), blocks,
                                    std::count(kept.begin(), kept.end(), false) > 1 ? ", and others after it" : ""),
                        "When the number of partial bins is odd, one has no partner and has to be kept: half = (left + "
                        "1) / 2 stay, and left - half are added to the first ones.");
            }
    }

    static std::vector<bool> kept_by_halves(std::size_t blocks) {
        std::vector<std::vector<std::size_t>> holds(blocks);  // the blocks whose counts a partial has
        for (std::size_t k = 0; k < blocks; ++k) holds[k] = {k};
        for (std::size_t half = blocks / 2; half > 0; half /= 2)
            for (std::size_t k = 0; k < half; ++k)
                holds[k].insert(holds[k].end(), holds[k + half].begin(), holds[k + half].end());
        std::vector<bool> kept(blocks);
        for (const std::size_t k : holds[0]) kept[k] = true;
        return kept;
    }

    // --- the wrong bin ---

    void try_positions() {
        for (const std::size_t period : {256, 128, 64, 32})
            suspect(for_each_bin([&](std::size_t v) {
                        return v < period ? static_cast<std::uint32_t>(Share{1, period, v}.count(n_)) : 0;
                    }),
                    "indexed_by_position",
                    fmt::format("Bin v counts the pixels at places v, v + {0}, v + {1} …, whatever their values.",
                                period, 2 * period),
                    "The index of the bin is the pixel's value, pixels[i], not its place i or the thread's number.");
    }

    void try_values() {
        struct Mapping {
            const char* words;
            int (*bin)(int value);  // -1: none
        };
        static constexpr Mapping mappings[] = {
            {"Each pixel is counted one bin too low.", [](int v) { return v - 1; }},
            {"Each pixel is counted one bin too high.", [](int v) { return v < 255 ? v + 1 : -1; }},
            {"Each pixel is counted one bin too high, 255 in bin 0.", [](int v) { return (v + 1) % 256; }},
            {"The bins are in reverse order.", [](int v) { return 255 - v; }},
            {"Bin v holds the count of v + 128, as if pixels were signed.", [](int v) { return (v + 128) % 256; }},
            {"Two values share each bin: the pixels are halved.", [](int v) { return v / 2; }},
            {"Pixels are cut to seven bits.", [](int v) { return v % 128; }},
            {"Pixels are scaled by 255 / 256 on the way.", [](int v) { return v * 255 / 256; }},
            {"Black pixels are not counted.", [](int v) { return v ? v : -1; }},
            {"Pixels of 128 and more are not counted, as if they were signed.",
             [](int v) { return v < 128 ? v : -1; }}};
        for (const Mapping& mapping : mappings) {
            Bins mapped{};
            for (int v = 0; v < 256; ++v)
                if (const int bin = mapping.bin(v); bin >= 0)
                    mapped[static_cast<std::size_t>(bin)] += right_[static_cast<std::size_t>(v)];
            suspect(mapped, "wrong_bin", mapping.words,
                    "The value itself is the index of its bin; pixels are unsigned char, from 0 to 255.");
        }
    }

    /// Words and vectors hold several pixels: some are forgotten, or taken twice in place of others.
    void try_bytes() {
        if (n_ > most_by_place) return;
        for (const std::size_t end : {n_, n_ / 4 * 4, n_ / 16 * 16}) {  // what is left may be counted one by one
            if (end < 16) return;
            Bins by_place[16] = {};
            for (std::size_t i = 0; i < end; ++i) ++by_place[i % 16][pixels_[i]];
            for (const auto& [period, size] : {std::pair<std::size_t, std::size_t>{4, 1}, {16, 4}, {16, 1}}) {
                std::vector<Bins> parts(period / size);
                for (std::size_t i = 0; i < 16; ++i) parts[i % period / size] = parts[i % period / size] + by_place[i];
                try_parts(parts, period, size);
            }
        }
    }

    void try_parts(const std::vector<Bins>& parts, std::size_t period, std::size_t size) {
        const auto name = [&](std::size_t k) {
            return size == 1 ? fmt::format("number {}", k)
                             : fmt::format("numbers {} to {}", k * size, k * size + size - 1);
        };
        const std::string every = fmt::format("Of every {} pixels ", period);
        const std::string hint =
            "A word has four bytes and a vector of four words sixteen: each is counted once. Bytes "
            "0 to 3 of a word are word & 255, word >> 8 & 255, word >> 16 & 255 and word >> 24.";
        const Bins rest = right_ - std::accumulate(parts.begin(), parts.end(), Bins{},
                                                   [](const Bins& a, const Bins& b) { return a + b; });
        for (std::size_t a = 0; a < parts.size(); ++a) {
            const char* const are = size == 1 ? " is" : " are";
            suspect(parts[a] + rest, "bytes_lost", every + "only " + name(a) + are + " counted.", hint);
            suspect(right_ - parts[a], "bytes_lost", every + name(a) + are + " not counted.", hint);
            for (std::size_t b = 0; b < parts.size(); ++b)
                if (a != b)
                    suspect(right_ - parts[a] + parts[b], "bytes_lost",
                            every + name(b) + are + " counted twice, and " + name(a) + " not at all.", hint);
        }
    }

    // --- counters that are too small ---

    void try_small_counters() {
        struct Counter {
            const char* words;
            std::uint32_t (*holds)(std::uint32_t count);
        };
        static constexpr Counter counters[] = {
            {"Counts end at 255.", [](std::uint32_t c) { return std::min(c, 255u); }},
            {"Counts end at 65,535.", [](std::uint32_t c) { return std::min(c, 65535u); }},
            {"Counts wrap around at 256.", [](std::uint32_t c) { return c % 256; }},
            {"Counts wrap around at 65,536.", [](std::uint32_t c) { return c % 65536; }}};
        for (const Counter& counter : counters)
            suspect(for_each_bin([&](std::size_t v) { return counter.holds(right_[v]); }), "counter_overflow",
                    counter.words, "Count in unsigned ints of 32 bits.");
    }

    /// Blocks' or threads' counters wrapped around, each on its own.
    void try_overflow() {
        std::uint32_t common = 0;
        for (std::size_t v = 0; v < actual_.size(); ++v) {
            if (actual_[v] > right_[v]) return;
            common = std::gcd(common, right_[v] - actual_[v]);
        }
        for (const std::uint32_t limit : {65536u, 256u})
            if (common % limit == 0 && count_wrong() >= 3)
                suspect(actual_, "counter_overflow", short_words(count_wrong(), limit), overflow_hint(limit));
    }

    /// Counters packed into words: each that passes its limit adds 1 to the one above it.
    void try_carries() {
        constexpr std::uint32_t limit = 65536;
        std::size_t carrying = 0;
        for (std::size_t v = 0; v < actual_.size(); v += 2) {
            const std::uint32_t lost = right_[v] - actual_[v], carries = lost / limit;
            const std::uint32_t lost_above = right_[v + 1] + carries - actual_[v + 1];
            if (lost > right_[v] || lost_above > right_[v + 1] || lost % limit || lost_above % limit) return;
            carrying += carries != 0;
        }
        if (carrying)
            suspect(actual_, "counter_overflow",
                    fmt::format("{} short by a multiple of 65,536, and the next bin has 1 too many for each.",
                                format_plural(carrying, "bin") + (carrying == 1 ? " is" : " are")),
                    "Two counters of 16 bits in a word: one that reaches 65,536 adds 1 to its neighbour. Add them up "
                    "before they can.");
    }

    static std::string short_words(std::size_t wrong, std::uint32_t limit) {
        return fmt::format("{} short by a multiple of {}.", format_plural(wrong, "bin") + (wrong == 1 ? " is" : " are"),
                           format_count(limit));
    }

    static std::string overflow_hint(std::uint32_t limit) {
        return fmt::format("Counters of {} bits wrap around at {}: add them up before they can.", limit == 256 ? 8 : 16,
                           format_count(limit));
    }

    // --- what no two runs make the same ---

    /// Shared memory began with the same garbage in every word.
    void try_same_surplus() {
        const std::size_t first = first_wrong();
        const std::uint32_t surplus = actual_[first] - right_[first];
        suspect(for_each_bin([&](std::size_t v) { return right_[v] + (v < first ? 0 : surplus); }),
                "shared_not_cleared",
                fmt::format("{} too large by the same number, {}, modulo 2^32.",
                            first == 0 ? std::string("Every bin is") : fmt::format("The bins from {} on are", first),
                            format_count(surplus)),
                "Shared memory holds garbage when a block starts: set all 256 of its bins to 0, then __syncthreads(), "
                "then count.");
    }

    void try_lost_counts() {
        if (!std::equal(actual_.begin(), actual_.end(), right_.begin(), std::less_equal<>())) return;
        suspect(actual_, "lost_counts",
                fmt::format("Counts are lost: together the bins hold {}. {} have too few, none too many.",
                            pixels_of(total_), format_plural(count_wrong(), "bin")),
                "++bins[v] reads, adds and writes: threads that do so at the same time lose counts, in shared memory, "
                "too. Use atomicAdd. Or is a block's bin added before all its threads have counted (__syncthreads())? "
                "Or are the bins set to 0 while other blocks count already? Do that before the launch.");
    }

    void try_surplus() {
        if (!std::equal(right_.begin(), right_.end(), actual_.begin(), std::less_equal<>())) return;
        for (std::size_t v = 0; v < actual_.size(); ++v)
            if (actual_[v] != right_[v] && actual_[v] == before_[v]) return;  // never written
        suspect(actual_, "counted_too_often",
                fmt::format("{} too many, none too few: together they hold {} counts for {} pixels.",
                            format_plural(count_wrong(), "bin") + (count_wrong() == 1 ? " has" : " have"),
                            format_count(total_), format_count(n_)),
                "Were a block's bins in shared memory set to 0, and did all threads wait for that (__syncthreads())? "
                "Is any pixel counted by two threads?");
    }

    std::size_t count_wrong() const {
        std::size_t wrong = 0;
        for (std::size_t v = 0; v < actual_.size(); ++v) wrong += actual_[v] != right_[v];
        return wrong;
    }

    std::size_t n_;
    const std::uint8_t* pixels_;
    Bins right_, actual_, before_;
    std::optional<Bins> previous_;
    std::uint64_t total_;  // of the counts in actual_
    std::uint32_t beyond_;
    std::vector<Hypothesis> found_;
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
        return Explanation(situation).found();
    }
};

}  // namespace

const Oracle* warplab_oracle() {
    static const ImageHistogram oracle;
    return &oracle;
}

}  // namespace warplab
