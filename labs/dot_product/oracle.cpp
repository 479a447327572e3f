#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "grader/common/text.h"
#include "grader/judge/lab/census.h"
#include "grader/judge/lab/explain.h"
#include "grader/model/recipe.h"

namespace warplab {
namespace {

enum Buffer { a, b, out };

std::size_t elements(const Problem& problem) { return static_cast<std::size_t>(problem.sizes[0]); }

// --- generators ---

struct Operands {
    std::uint32_t a, b;  // bits of the ints
};

Operands random_operands(std::uint64_t seed, std::size_t i) {
    const std::uint64_t bits = random_bits(seed, 0, i);
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}

/// The sum is the number of products.
Operands one_operands(std::uint64_t, std::size_t) { return {1, 1}; }

/// Products of about 2^24 with alternating signs: the sum stays small.
Operands alternating_operands(std::uint64_t seed, std::size_t i) {
    const Operands bits = random_operands(seed, i);
    const std::uint32_t magnitude = 4096 + bits.a % 64;
    return {i % 2 ? 0u - magnitude : magnitude, 4096 + bits.b % 64};
}

/// The smallest and largest ints and their neighbours.
Operands extreme_operands(std::uint64_t seed, std::size_t i) {
    static constexpr std::uint32_t special[] = {0x80000000u, 0x7fffffffu, 0x80000001u, 0xffffffffu,
                                                0x0000ffffu, 0x00010001u, 0x55555555u, 3u};
    const std::uint64_t bits = random_bits(seed, 1, i);
    return {special[bits % 8], special[bits / 8 % 8]};
}

/// Each product is a power of two.
Operands power_operands(std::uint64_t seed, std::size_t i) {
    const std::uint64_t bits = random_bits(seed, 2, i);
    return {1u << bits % 16, 1u << bits / 16 % 16};
}

const std::map<std::string, Operands (*)(std::uint64_t seed, std::size_t i)> generators = {
    {"random", random_operands},
    {"ones", one_operands},
    {"alternating", alternating_operands},
    {"extremes", extreme_operands},
    {"powers_of_two", power_operands}};

// --- references; unsigned arithmetic wraps around, as the contract says ---

std::uint32_t dot(const std::uint32_t* x, const std::uint32_t* y, std::size_t n, Execution how) {
    std::uint32_t sum = 0;
#pragma omp parallel for simd reduction(+ : sum) if (parallel : how == Execution::openmp)
    for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

// --- explanations of wrong answers ---

constexpr auto first_with_tree = "02", first_with_shuffles = "05";
constexpr std::size_t max_explained = 1 << 28;  // elements; with more, the sums of all prefixes take too much memory
const Nouns nouns{.elements = "products", .done = "in the sum", .idle = "add 0"};

std::int32_t as_int(std::uint32_t bits) { return static_cast<std::int32_t>(bits); }

/// Compares the wrong answer with the answers that known mistakes give.
class Explanation {
  public:
    explicit Explanation(const Situation& situation)
        : situation_(situation),
          n_(elements(situation.problem)),
          x_(situation.problem.arrays[a].as<std::uint32_t>()),
          y_(situation.problem.arrays[b].as<std::uint32_t>()),
          right_(situation.problem.arrays[out].as<std::uint32_t>()[0]),
          actual_(situation.actual[out].as<std::uint32_t>()[0]) {}

    std::vector<Hypothesis> hypotheses() {
        using E = Explanation;
        if (actual_ == right_) return {};
        if (n_ > max_explained)
            return first_fit(situation_, *this, {&E::try_old_contents, &E::try_past_end, &E::try_whole});
        prefix_.resize(n_ + 1);
        for (std::size_t i = 0; i < n_; ++i) prefix_[i + 1] = prefix_[i] + product(i);
        for (std::size_t i = 0; i < n_; ++i) residues_[i % residues_.size()] += product(i);
        return first_fit(situation_, *this,
                         {&E::try_old_contents,    &E::try_past_end,      &E::try_neutral,
                          &E::try_copied_bytes,    &E::try_old_partials,  &E::try_tail,
                          &E::try_share,           &E::try_warps,         &E::try_parts,
                          &E::try_missing_barrier, &E::try_run_lost,      &E::try_whole,
                          &E::try_repeated,        &E::try_other_block,   &E::try_index_in_tree,
                          &E::try_shuffle_up,      &E::try_shuffle_steps, &E::try_stale_shared_memory,
                          &E::try_odd_trees,       &E::try_tree_steps,    &E::try_narrow,
                          &E::try_float_sums,      &E::try_tile_steps,    &E::try_lost_updates});
    }

  private:
    std::uint32_t product(std::size_t i) const { return x_[i] * y_[i]; }
    std::uint32_t sum(std::size_t begin, std::size_t end) const { return prefix_[end] - prefix_[begin]; }

    std::uint32_t sum(const Reach& reach) const {
        std::uint32_t total = 0;
        if (reach.slices)
            for (std::size_t k = 0; k < reach.slices && k * reach.period < n_; ++k)
                total += sum(k * reach.period, std::min(n_, k * reach.period + reach.run));
        else if (reach.falls && reach.period > 1)
            return ~right_;  // does not fit: the sum would take too long, and no stage of this lab has such a loop
        else if (reach.falls)
            for (std::size_t i = 0; i < reach.end; ++i)
                total += static_cast<std::uint32_t>(reach.times_of(i)) * product(i);
        else if (reach.rise)
            for (std::size_t k = 0; k < reach.times && k * reach.rise < n_; ++k) total += sum(k * reach.rise, n_);
        else if (reach.period == 1)
            total = static_cast<std::uint32_t>(reach.times) * sum(reach.begin, reach.end);
        else
            for (std::size_t i = reach.first; i < n_; i += reach.period)
                total += static_cast<std::uint32_t>(reach.times) * sum(i, std::min(n_, i + reach.run));
        return total;
    }

    Fits fits() const {
        return [this](const Reach& reach) { return sum(reach) == actual_; };
    }

    Guess try_old_contents() {
        const std::uint32_t before = situation_.before[out].as<std::uint32_t>()[0];
        const std::uint32_t previous =
            situation_.previous ? situation_.previous->arrays[out].as<std::uint32_t>()[0] : 0;
        const auto not_cleared = [&](std::uint32_t old, const char* clause, const char* hint) {
            return Mistake{
                "not_cleared",
                sentence("The answer is the right sum, {}, plus {}, which {}.", as_int(right_), as_int(old), clause),
                hint};
        };
        if (n_ == 0 && actual_ == before) return empty_not_written("out", "an empty sum is 0");
        // Compare with the previous call first: out may also have held its result before this call. Code that adds to
        // garbage fails in the first call already.
        if (actual_ == right_ + previous)
            return not_cleared(
                previous, "was the answer of the previous call",
                "Set the sum to 0 at the beginning of every call, not only of the first: the blocks add to it.");
        if (actual_ == right_ + before)
            return not_cleared(
                before, "is what out held before the call",
                "out holds garbage before the call: set it to 0, in every call, before the first block adds to it."
                " The arguments of cudaMemset are the address, the value and the number of bytes, in this order.");
        constexpr std::uint32_t each_byte = 0x01010101u, unset = 0xFEFEFEFEu;  // cudaMemset sets bytes
        if (actual_ - right_ == unset)
            return Mistake{
                "uninitialised",
                sentence("The answer is the right sum, {}, plus 0xFEFEFEFE, which a local variable holds on "
                         "the CPU backend until it is set.",
                         as_int(right_)),
                "Set every local variable before it is used: a sum, and also a value that is copied to out."};
        if (const std::uint32_t more = actual_ - right_; more % each_byte == 0 && more / each_byte < 255)
            return not_cleared(
                more, "is what an int holds after cudaMemset has set each of its bytes to the same number",
                "The sum begins with 0. The second argument of cudaMemset is the value of each byte: it must be 0.");
        if (previous != 0) return guess_stale(situation_, out, "The answer is that", "a and b have");
        return {};
    }

    Guess try_past_end() {
        const std::uint32_t beyond = situation_.beyond * situation_.beyond;
        if (actual_ == right_ + beyond)
            return Mistake{
                "read_past_end",
                sentence("Element {} is in the sum; the last one is {}.", n_, n_ ? format_count(n_ - 1) : "none"),
                "Indices run from 0 to n - 1: the guard is i < n, not i <= n."};
        for (const std::size_t block : {256, 128, 512, 1024, 64, 32, 4, 2048, 4096, 8192}) {
            const std::size_t covered = (n_ + block - 1) / block * block;
            if (actual_ == right_ + static_cast<std::uint32_t>(covered - n_) * beyond)
                return Mistake{
                    "read_past_end",
                    sentence(
                        "{} products from beyond the end are in the sum: {} elements were read ({}), and there are {}.",
                        covered - n_, covered, blocks_of(covered, block), n_),
                    "Threads past the end have no product: let them add 0 if i >= n."};
        }
        return {};
    }

    /// Threads past the end add 1, the neutral element of a product.
    Guess try_neutral() {
        for (const std::size_t block : common_block_sizes)
            if (const std::size_t idle = (n_ + block - 1) / block * block - n_;
                idle > 1 && actual_ == right_ + static_cast<std::uint32_t>(idle))
                return Mistake{"wrong_neutral",
                               sentence("The answer is {} too large: that is 1 for each thread past the end, with "
                                        "blocks of {}.",
                                        idle, std::to_string(block)),
                               "A thread past the end must not change the sum: the neutral element of + is 0."};
        return {};
    }

    /// The code copies one byte per partial sum to the host, so the rest of the host's array is 0.
    Guess try_copied_bytes() {
        if (!situation_.stage.starts_with("04") || actual_ == 0) return {};
        for (const std::size_t block : common_block_sizes)
            for (std::size_t part = block; part < n_; part *= block) {
                const std::size_t parts = (n_ + part - 1) / part, kept = parts / 4;
                const std::uint32_t bits =
                    (std::uint32_t{1} << 8 * (parts % 4)) - 1;  // the lower bytes of the next sum
                const std::uint32_t next = sum(std::min(n_, kept * part), std::min(n_, (kept + 1) * part)) & bits;
                if (prefix_[kept * part] + next == actual_)
                    return Mistake{"bytes_not_elements",
                                   sentence("Of {} partial sums, of {} products each, only the first {} bytes are in "
                                            "the answer: a quarter of all bytes.",
                                            parts, part, parts),
                                   "cudaMemcpy counts bytes: copy count * sizeof(int), not count."};
            }
        return {};
    }

    /// The host adds the number of partial sums that the second kernel made, but reads them from the first kernel's
    /// output.
    Guess try_old_partials() {
        if (!situation_.stage.starts_with("04")) return {};
        for (const std::size_t block : common_block_sizes) {
            const std::size_t first = (n_ + block - 1) / block, second = (first + block - 1) / block;
            if (second == first || second * block >= n_ || prefix_[second * block] != actual_) continue;
            return Mistake{
                "old_partials",
                sentence("Of the {} partial sums of the first kernel, the first {} are in the answer: as "
                         "many as the second kernel writes.",
                         first, second),
                "Each kernel must read the output of the previous kernel, and the host must add the output of the "
                "last kernel. Swap the two pointers after each kernel, e.g. std::swap(partial, next)."};
        }
        return {};
    }

    Guess try_tail() {
        if (actual_ == 0)
            return Mistake{"nothing_added", "The answer is 0: no product is in the sum.",
                           "Does every block add its sum to out after out is set to 0? Or did you write = instead of "
                           "+=, in the tree or with a shuffle? Or is the sum declared again, in an inner block?"};
        return guess_tail(n_, nouns, fits());
    }

    Guess try_share() { return guess_share(n_, nouns, fits(), false); }

    Guess try_warps() {
        for (std::size_t kept = 32; kept < n_; kept += 32)
            if (prefix_[kept] == actual_) return name_run(kept);
        return {};
    }

    Guess try_run_lost() {
        for (std::size_t k = 1; k < n_; ++k) {
            if (prefix_[k] == actual_) return name_run(k);
            if (right_ - prefix_[k] != actual_) continue;
            if (constexpr std::size_t step = 1024; k % step == 0 && n_ - k < 32 * step)
                return Mistake{
                    "first_lost",
                    sentence("Only the last {} are in the sum; the first {}, which whole steps add, are not.",
                             format_plural(n_ - k, "product"), k),
                    "The sum of the loop over whole steps or vectors is lost. Does its body declare a "
                    "variable again that exists outside, or assign with = instead of +=?"};
            return Mistake{"first_lost", sentence("The first {} products are not in the sum.", k),
                           "Does something set out, or the block's sum, to 0 after the first blocks have added to it?"};
        }
        return {};
    }

    Mistake name_run(std::size_t kept) const {
        if (n_ > 1024) return name_prefix(n_, kept, nouns);
        return {"block_incomplete", sentence("Only the first {} of {} products {}.", kept, n_, nouns.are_done(kept)),
                "The sum over the block leaves out the others, or is used before they have been added: look at the "
                "loop and at its __syncthreads()."};
    }

    /// Sums of the products with i % period == 0, 1, …
    std::vector<std::uint32_t> sums_modulo(std::size_t period) const {
        std::vector<std::uint32_t> sums(period);
        for (std::size_t j = 0; j < residues_.size(); ++j) sums[j % period] += residues_[j];
        return sums;
    }

    Guess try_parts() {
        for (const std::size_t period : {256, 128, 512, 1024, 64, 32, 16, 8, 4, 2, 2048, 4096}) {
            if (period >= n_) continue;
            const std::vector<std::uint32_t> sums = sums_modulo(period);
            std::uint32_t first = 0;
            for (std::size_t run = 1; run < period; ++run) {
                first += sums[run - 1];
                if (first == actual_) return name_part({.end = n_, .period = period, .run = run});
                if (2 * run <= period && right_ - first == actual_)
                    return name_part({.end = n_, .period = period, .run = run, .others = true});
            }
            for (std::size_t j = 0; j < period; ++j)
                if (sums[j] == actual_ || right_ - sums[j] == actual_)
                    return name_part({.end = n_, .period = period, .first = j, .others = sums[j] != actual_});
        }
        return {};
    }

    Mistake name_part(const Reach& part) const {
        const bool has_tree = situation_.stage >= first_with_tree && situation_.stage < first_with_shuffles;
        const bool is_single = part.run == 1 && !part.others;
        return {
            "block_incomplete", describe_part(part, nouns),
            is_single && part.first
                ? "Did you write = instead of +=, so that a sum keeps only the last value? Or do all "
                  "threads of a block write to the same element? Each needs its own, such as "
                  "products[threadIdx.x]. Or is the wrong element added to the answer? A tree "
                  "leaves the block's sum in element 0."
            : is_single && part.period >= 32 && has_tree
                ? "No other sum has been added to thread 0's. Which of the two sums does a step of the tree change? "
                  "It must be the one with the lower number, sums[t] += sums[t + distance]. If so, is thread 0's "
                  "sum used before the tree is complete: is a __syncthreads() missing?"
            : is_single && part.period >= 32
                ? "Thread 0's sum is used before the other sums have been added to it: the sum "
                  "over the block, or a __syncthreads() before it, is missing."
                : "The sum over a block or warp leaves out the others: look at where its "
                  "loop begins, how it steps and when it ends."};
    }

    /// Thread 0 does all steps of the tree before any other thread has added a sum.
    Guess try_missing_barrier() {
        for (const std::size_t block : common_block_sizes) {
            const std::vector<std::uint32_t> threads = sums_modulo(block);
            std::uint32_t added = threads[0];
            for (std::size_t distance = 1; distance < block; distance *= 2) added += threads[distance];
            if (n_ > 2 && added == actual_)
                return Mistake{
                    "missing_barrier",
                    sentence(
                        "Of every block of {} only the products 0, 1, 2, 4, 8 … {} are in the sum: at each step of "
                        "the tree, thread 0 adds a sum to which no other thread has added a product.",
                        block, block / 2),
                    "Between two steps of the tree every thread has to wait for all others: __syncthreads() inside the "
                    "loop, after the if. A loop that only one warp runs needs __syncwarp() there instead. If the "
                    "barrier is there, look at the condition: in each step, all threads below half must add, "
                    "threadIdx.x < half, not thread 0 alone."};
        }
        return {};
    }

    /// The sum is complete, but it is counted several times, has other terms, or does not wrap around.
    Guess try_whole() {
        for (std::uint32_t times = 2; times <= 1024; times *= 2)
            if (right_ * times == actual_)
                return Mistake{
                    "added_repeatedly", sentence("The answer is {} times the right one.", times),
                    times < 32 && situation_.stage.starts_with("05")
                        ? "Is each sum added to itself? A shuffle by 32 lanes or more gives a lane its own value: "
                          "in a warp, distances are 16, 8, 4, 2 and 1. Or do several threads add the same sum?"
                        : "Only one thread of a block may add the block's sum, once: if (threadIdx.x == 0) "
                          "atomicAdd(…)."};
        std::uint32_t sum_a = 0, sum_b = 0, squares_a = 0, squares_b = 0, both = 0, either = 0, one_only = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            sum_a += x_[i], sum_b += y_[i];
            squares_a += x_[i] * x_[i], squares_b += y_[i] * y_[i];
            both += x_[i] & y_[i], either += x_[i] | y_[i], one_only += x_[i] ^ y_[i];
        }
        const auto sum_of = [](const char* terms) {
            return Mistake{"wrong_operation",
                           sentence("The answer is the sum of {}; it should be that of a[i] * b[i].", terms),
                           "Which operator does the line with a[i] and b[i] use, and with which arrays?"};
        };
        const auto extreme = [&](const char* which) {
            return Mistake{"saturated",
                           sentence("The answer is {}, the {} int: the sum stopped there instead of wrapping around.",
                                    as_int(actual_), which),
                           "Keep products and sums in int (or unsigned): float and double round, and converting them "
                           "back to int saturates."};
        };
        return match<std::uint32_t>(actual_, {{sum_a, sum_of("a[i]")},
                                              {sum_b, sum_of("b[i]")},
                                              {sum_a + sum_b, sum_of("a[i] + b[i]")},
                                              {sum_a - sum_b, sum_of("a[i] - b[i]")},
                                              {squares_a, sum_of("a[i] * a[i]")},
                                              {squares_b, sum_of("b[i] * b[i]")},
                                              {both, sum_of("a[i] & b[i]")},
                                              {either, sum_of("a[i] | b[i]")},
                                              {one_only, sum_of("a[i] ^ b[i]")},
                                              {0x7fffffffu, extreme("largest")},
                                              {0x80000000u, extreme("smallest")}});
    }

    Guess try_repeated() {
        for (const std::size_t part : {4, 256, 128, 512, 1024, 64, 32, 2048, 4096, 8192})
            if (const std::size_t begin = n_ / part * part; begin != n_ && right_ + sum(begin, n_) == actual_)
                return tail_twice(n_, begin, nouns);
        if (Guess guess = try_rest_of_every_block()) return guess;
        if (Guess guess = try_tiles()) return guess;
        if (Guess guess = try_rest_of_tiles()) return guess;
        if (Guess guess = try_vectors_of_tile()) return guess;
        if (Guess guess = try_tiles_of_threads()) return guess;
        if (Guess guess = guess_repeated(n_, nouns, fits())) return guess;
        return n_ > 1 << 21 ? Guess() : guess_long_stride(n_, nouns, fits());
    }

    /// A mistake in whole tiles, in which each thread has several vectors: blocks step by one tile, or a thread keeps
    /// only the last vector of a tile. The elements after the whole tiles are added once.
    Guess try_tiles() const {
        constexpr std::size_t max_blocks = 4096;
        for (const std::size_t tile : {4096, 2048, 8192, 1024, 16384, 512}) {
            const std::size_t tiles = n_ / tile;
            if (tiles < 2) continue;
            std::uint32_t later = 0;  // products of the tiles that a further block adds, too
            for (std::size_t blocks = 1; blocks < std::min(tiles, max_blocks); ++blocks) {
                later += sum(blocks * tile, tiles * tile);
                if (actual_ == right_ + later)
                    return Mistake{
                        "counted_too_often",
                        sentence("Of {} tiles of {} products, the first is in the sum once, the second twice, and so "
                                 "on, up to {} times: the loop of each of {} blocks steps by one tile.",
                                 tiles, tile, blocks + 1, blocks + 1),
                        "Each tile belongs to one block: the loop over tiles steps by gridDim.x."};
            }
            for (std::size_t run = tile / 2; run >= tile / 8 && run >= 128; run /= 2) {
                std::uint32_t last = sum(tiles * tile, n_);
                for (std::size_t k = 1; k <= tiles; ++k) last += sum(k * tile - run, k * tile);
                if (actual_ == last)
                    return Mistake{"block_incomplete",
                                   sentence("Of every {} products only the last {} are in the sum: of the vectors "
                                            "that a thread takes from a tile, the last.",
                                            tile, run),
                                   "A thread adds the products of all its vectors: sum += …, not sum = …."};
            }
        }
        return {};
    }

    /// The loop over the vectors after the last whole tile begins too early, so the end of the tiles is added twice.
    Guess try_rest_of_tiles() const {
        for (const std::size_t tile : {4096, 2048, 8192, 1024, 16384, 512}) {
            const std::size_t tiles = n_ / tile, end = tiles * tile;
            if (tiles < 2) continue;
            for (const std::size_t begin : {4 * tiles, tiles, end / 4, std::size_t{0}})
                if (sum(begin, end) != 0 && actual_ == right_ + sum(begin, end))
                    return Mistake{
                        "tail_index",
                        sentence("Products {} to {} are in the sum twice: they belong to {} whole tiles of {} "
                                 "products, and the loop over the rest adds them again.",
                                 begin, end - 1, tiles, tile),
                        "Which vector is the first after the last whole tile? The loop over the rest begins there, and "
                        "a tile has BLOCK * VECTORS vectors."};
        }
        return {};
    }

    /// Tiles are divided among the threads of a block, not among blocks: each block adds the same parts of tiles.
    Guess try_tiles_of_threads() const {
        constexpr std::size_t vector = 4, max_blocks = 64, max_elements = 1 << 21;
        if (n_ > max_elements) return {};
        for (const std::size_t block : {256, 128, 512})
            for (const std::size_t vectors : {4, 2, 8}) {
                const std::size_t tile = block * vectors * vector, tiles = n_ / tile;
                const std::size_t all = (n_ + tile - 1) / tile;
                for (std::size_t blocks = std::min(all, max_blocks); tiles > 1 && blocks > 1; --blocks) {
                    std::uint32_t parts = 0;
                    for (std::size_t t = 0; t < tiles; ++t)
                        for (std::size_t thread = t % blocks; thread <= std::min(t, block - 1); thread += blocks)
                            for (std::size_t k = 0; k < vectors; ++k) {
                                const std::size_t at = t * tile + (k * block + thread) * vector;
                                parts += sum(at, at + vector);
                            }
                    if (sum(tiles * tile, n_) + static_cast<std::uint32_t>(blocks) * parts != actual_) continue;
                    return Mistake{
                        "block_index_forgotten",
                        sentence("A thread begins with the tile of its own number, so each of {} blocks adds the same "
                                 "few vectors of {} tiles.",
                                 blocks, tiles),
                        "All threads of a block work on the same tile: with which tile does a block begin?"};
                }
            }
        return {};
    }

    /// The vectors that a thread takes from a tile are less than a block apart, so some are added several times.
    Guess try_vectors_of_tile() const {
        constexpr std::size_t vector = 4;
        for (const std::size_t block : common_block_sizes)
            for (const std::size_t vectors : {4, 2, 8})
                for (const std::size_t apart : {std::size_t{1}, vectors, std::size_t{0}, std::size_t{32}, vector}) {
                    const std::size_t tile = block * vectors * vector, tiles = n_ / tile;
                    if (tiles == 0 || apart >= block) continue;
                    std::uint32_t added = sum(tiles * tile, n_);
                    for (std::size_t t = 0; t < tiles; ++t)
                        for (std::size_t k = 0; k < vectors; ++k) {
                            const std::size_t begin = t * tile + k * apart * vector;
                            added += sum(begin, begin + block * vector);
                        }
                    if (added != actual_) continue;
                    return Mistake{
                        "wrong_vectors",
                        sentence("Of every tile of {} vectors some are in the sum several times, and others never: "
                                 "the {} vectors of a thread are {} apart, not {}.",
                                 block * vectors, vectors, apart, block),
                        "Thread t takes vectors t, t + BLOCK, t + 2 * BLOCK and so on of a tile, so that the threads "
                        "of a block take each of them once."};
                }
        return {};
    }

    /// Every block adds the elements after the last whole vector.
    Guess try_rest_of_every_block() const {
        constexpr std::uint32_t max_blocks = 4096;
        const std::size_t begin = n_ / 4 * 4;
        const std::uint32_t rest = sum(begin, n_);
        for (std::uint32_t more = 2; rest != 0 && more < max_blocks; ++more)
            if (actual_ == right_ + more * rest)
                return Mistake{
                    "tail_repeated",
                    sentence("The last {}, from number {} on, {} in the sum {} times.",
                             format_plural(n_ - begin, "product"), begin, n_ - begin == 1 ? "is" : "are", more + 1),
                    "Let only one block add the elements after the last whole vector: if (blockIdx.x == 0 && "
                    "i < n)."};
        return {};
    }

    /// One of the two vectors is read at the thread's index in its block instead of the element's index.
    Guess try_other_block() {
        for (const std::size_t block : common_block_sizes) {
            if (block >= n_) continue;
            std::uint32_t of_a = 0, of_b = 0;
            for (std::size_t i = 0; i < n_; ++i) of_a += x_[i % block] * y_[i], of_b += x_[i] * y_[i % block];
            if (actual_ != of_a && actual_ != of_b) continue;
            const bool is_a = actual_ == of_a;
            return Mistake{
                "block_index_forgotten",
                sentence("The answer is the sum of a[{}] * b[{}]: every block of {} uses the first {} "
                         "elements of {}.",
                         is_a ? "i % " + std::to_string(block) : "i", is_a ? "i" : "i % " + std::to_string(block),
                         std::to_string(block), block, std::string(is_a ? "a" : "b")),
                "Is the index of both vectors blockIdx.x * blockDim.x + threadIdx.x? threadIdx.x alone "
                "belongs to shared memory."};
        }
        return {};
    }

    /// The tree compares its distance with the element's index, which is the thread's number only in block 0.
    Guess try_index_in_tree() {
        for (const std::size_t block : common_block_sizes) {
            if (block >= n_) continue;
            const std::uint32_t firsts = sums_modulo(block)[0];
            if (actual_ != prefix_[block] + firsts - product(0)) continue;
            return Mistake{"block_incomplete",
                           sentence("The sum of block 0 is right; of every other block of {} only the first product "
                                    "is in the sum.",
                                    block),
                           "Which number does the tree compare with its distance? It must be the thread's number in "
                           "the block, threadIdx.x; the index in the vector is the same only in block 0."};
        }
        return {};
    }

    /// A warp's tree of shuffles lacks its last steps.
    Guess try_shuffle_steps() {
        static constexpr struct { std::size_t first, last, lost; } trees[] = {{16, 2, 1}, {16, 4, 2}};
        for (const std::size_t elements : {4, 1})
            for (const std::size_t threads : common_block_sizes) {
                if (n_ < 4 * elements) continue;  // with fewer products, other mistakes have the same sum
                std::vector<std::uint32_t> lanes(threads);
                const std::vector<std::uint32_t> sums = sums_modulo(threads * elements);
                for (std::size_t k = 0; k < sums.size(); ++k) lanes[k / elements] += sums[k];
                for (std::size_t i = n_ / elements * elements; i < n_; ++i) {  // by thread 0 and the threads after it
                    lanes[i % (threads * elements) / elements] -= product(i);
                    lanes[i % elements] += product(i);
                }
                for (const auto& tree : trees)
                    for (const bool twice : {true, false})
                        if (sum_of_shuffles(lanes, tree.first, tree.last, twice) == actual_)
                            return Mistake{
                                "tree_step",
                                sentence("The answer is that of shuffles without the shuffle by {} {}.", tree.lost,
                                         std::string(tree.lost == 1 ? "lane" : "lanes")),
                                "In a warp of 32 lanes the distances are 16, 8, 4, 2 and 1: where does the loop begin, "
                                "and when does it end?"};
            }
        return {};
    }

    /// Add up each warp by the wrong tree, then the warps' sums: by the same tree if `twice`, otherwise by a right
    /// tree.
    static std::uint32_t sum_of_shuffles(const std::vector<std::uint32_t>& lanes, std::size_t first, std::size_t last,
                                         bool twice) {
        constexpr std::size_t warp = 32;
        const auto lane_0 = [&](std::vector<std::uint32_t> values, std::size_t from, std::size_t to) {
            values.resize(warp);
            for (std::size_t distance = from; distance >= to; distance /= 2)
                for (std::size_t lane = 0; lane + distance < warp; ++lane) values[lane] += values[lane + distance];
            return values[0];
        };
        std::vector<std::uint32_t> sums;
        for (std::size_t t = 0; t < lanes.size(); t += warp)
            sums.push_back(lane_0(
                {lanes.begin() + static_cast<std::ptrdiff_t>(t), lanes.begin() + static_cast<std::ptrdiff_t>(t + warp)},
                first, last));
        return twice ? lane_0(sums, first, last) : lane_0(sums, warp / 2, 1);
    }

    /// Lane 0 never gets a sum from another lane: at each of five distances it adds its own sum to itself.
    Guess try_shuffle_up() {
        for (const std::size_t elements : {1, 4})
            for (const std::size_t threads : {256, 128, 512, 1024, 32}) {
                if (n_ < 2 * threads * elements) continue;
                const std::vector<std::uint32_t> sums = sums_modulo(threads * elements);
                std::uint32_t first = 0;
                for (std::size_t k = 0; k < elements; ++k) first += sums[k];
                if (actual_ != first * (threads == 32 ? 32 : 32 * 32)) continue;
                return Mistake{
                    "wrong_shuffle",
                    sentence("Only the sum of lane 0 of {} is in the answer, {} times: each shuffle gave lane "
                             "0 its own value.",
                             threads == 32 ? "each warp" : "each block's first warp", threads == 32 ? 32u : 1024u),
                    "__shfl_up_sync passes values to higher lanes, so lane 0 gets none. Use __shfl_down_sync, "
                    "which passes values to lower lanes."};
            }
        return {};
    }

    /// Slots of threads past the end still contain the values of another block that used the same shared memory.
    Guess try_stale_shared_memory() {
        for (const std::size_t block : common_block_sizes) {
            const std::size_t in_last_block = n_ % block;
            for (std::size_t begin = 0; in_last_block != 0 && begin + block <= n_; begin += block)
                if (right_ + sum(begin + in_last_block, begin + block) == actual_)
                    return Mistake{
                        "stale_shared",
                        sentence("The last block, of {} products, adds {} more: elements {} to {}, which "
                                 "another block left in shared memory.",
                                 in_last_block, block - in_last_block, begin + in_last_block, begin + block - 1),
                        "Threads past the end must neither return before the __syncthreads() nor leave "
                        "their slot as it is: they store 0."};
        }
        return {};
    }

    /// A tree that halves a block whose size is not a power of two drops a sum at each odd step.
    Guess try_odd_trees() {
        if (n_ > 1 << 22) return {};
        for (const std::size_t block : {192, 200, 320, 224, 300, 480, 500, 576, 700, 832, 900})
            if (sum_of_halving_tree(block) == actual_)
                return Mistake{
                    "tree_not_power_of_two",
                    sentence("With blocks of {} threads (or twice or half as many) the tree loses sums: "
                             "halving gives an odd number of sums, and the sum without a partner is dropped.",
                             block),
                    "Use a block size that is a power of two, or add the sum without a partner as well."};
        return {};
    }

    std::uint32_t sum_of_halving_tree(std::size_t block) const {
        std::vector<std::uint32_t> sums(block);
        for (std::size_t i = 0; i < n_; ++i) sums[i % block] += product(i);
        for (std::size_t half = block / 2; half > 0; half /= 2)
            for (std::size_t t = 0; t < half; ++t) sums[t] += sums[t + half];
        return sums[0];
    }

    /// A step of the tree does not halve, or double, the distance between the two sums that a thread adds.
    Guess try_tree_steps() {
        struct Step {
            const char* name;
            std::size_t (*next)(std::size_t distance);
        };
        static constexpr Step falling[] = {{"half -= 2", [](std::size_t d) { return d < 2 ? 0 : d - 2; }},
                                           {"half -= 1", [](std::size_t d) { return d - 1; }},
                                           {"half /= 4", [](std::size_t d) { return d / 4; }},
                                           {"half /= 3", [](std::size_t d) { return d / 3; }}};
        static constexpr Step rising[] = {{"distance += 2", [](std::size_t d) { return d + 2; }},
                                          {"distance += 1", [](std::size_t d) { return d + 1; }},
                                          {"distance *= 4", [](std::size_t d) { return d * 4; }},
                                          {"distance *= 3", [](std::size_t d) { return d * 3; }}};
        for (const std::size_t block : common_block_sizes) {
            const std::vector<std::uint32_t> threads = sums_modulo(block);
            if (n_ >= block)
                for (const bool from_middle : {true, false})
                    if (Guess guess = try_same_distance(threads, from_middle)) return guess;
            for (const Step& step : falling) {
                std::vector<std::uint32_t> sums = threads;
                for (std::size_t half = block / 2; half > 0; half = step.next(half))
                    for (std::size_t t = 0; t < half; ++t) sums[t] += sums[t + half];
                if (sums[0] == actual_) return wrong_step(block, step.name, "half", "halves", "half /= 2");
            }
            for (const Step& step : rising) {
                std::vector<std::uint32_t> sums = threads;
                for (std::size_t distance = 1; distance < block; distance = step.next(distance))
                    for (std::size_t t = 0; t + distance < block; t += 2 * distance) sums[t] += sums[t + distance];
                if (sums[0] == actual_) return wrong_step(block, step.name, "distance", "doubles", "distance *= 2");
            }
        }
        return {};
    }

    /// Every step of the tree adds the sum at the same distance, so thread 0 adds one sum several times.
    Guess try_same_distance(const std::vector<std::uint32_t>& threads, bool from_middle) const {
        const std::size_t block = threads.size(), distance = from_middle ? block / 2 : 1;
        const auto steps = static_cast<std::uint32_t>(std::bit_width(block) - 1);
        if (threads[0] + steps * threads[distance] != actual_) return {};
        return Mistake{
            "tree_step",
            sentence("The answer is that of a tree which adds at the same distance, {}, in each of {} steps, "
                     "with blocks of {}.",
                     distance, std::size_t{steps}, block),
            "Which sum does a thread add in the second step? Its distance changes from step to step, as the "
            "loop's variable does."};
    }

    static Mistake wrong_step(std::size_t block, const char* wrong, const char* variable, const char* change,
                              const char* right) {
        return {"tree_step",
                sentence("The answer is that of a tree whose loop ends with {}, with blocks of {}: sums are omitted "
                         "or added more than once.",
                         wrong, std::to_string(block)),
                sentence("Look at the third part of the loop's for (…; …; …). Each step {} the distance between the "
                         "two sums that a thread adds: {}, if it is called {}.",
                         change, right, variable)};
    }

    /// Products are stored in a type that is too narrow.
    Guess try_narrow() {
        std::uint32_t of_16 = 0, of_8 = 0, low_16 = 0, low_8 = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            of_16 += static_cast<std::uint32_t>(static_cast<std::int16_t>(product(i)));
            of_8 += static_cast<std::uint32_t>(static_cast<std::int8_t>(product(i)));
            low_16 += static_cast<std::uint16_t>(product(i));
            low_8 += static_cast<std::uint8_t>(product(i));
        }
        const bool is_8 = actual_ == of_8 || actual_ == low_8;
        if (!is_8 && actual_ != of_16 && actual_ != low_16) return {};
        return Mistake{"truncated",
                       sentence("The answer is the sum of products that are cut to {} bits.", is_8 ? 8 : 16),
                       "An int has 32 bits, a short has 16 and a char has 8: which type holds the products?"};
    }

    /// A block's sum in float is rounded. If it does not fit into an int, the conversion gives the nearer limit of int
    /// on a GPU, and the lower limit on a CPU.
    Guess try_float_sums() {
        if (n_ > 1 << 22) return {};
        for (const std::size_t block : common_block_sizes)
            for (const auto add : {add_in_turn, add_halves, add_neighbours})
                for (const bool of_gpu : {false, true})
                    if (sum_of_floats(block, add, of_gpu) == actual_)
                        return Mistake{
                            "float_sum",
                            sentence("The answer is that of sums of {} products each, computed in float.", block),
                            "A float has 24 bits for the digits, and an int has 31: declare the sum and the "
                            "array of products as int."};
        return try_float_total();
    }

    /// The blocks' sums are integers, signed or unsigned, but they are added up in a float.
    Guess try_float_total() const {
        for (const std::size_t block : common_block_sizes) {
            float total = 0, of_unsigned = 0;
            for (std::size_t begin = 0; begin < n_; begin += block) {
                const std::uint32_t part = sum(begin, std::min(n_, begin + block));
                total += static_cast<float>(as_int(part));
                of_unsigned += static_cast<float>(part);
            }
            for (const float sum_found : {total, of_unsigned})
                if (std::abs(sum_found) < 0x1p63f &&
                    (static_cast<std::uint32_t>(static_cast<std::int64_t>(sum_found)) == actual_ ||
                     (sum_found >= 0 && sum_found < 0x1p32f && static_cast<std::uint32_t>(sum_found) == actual_)))
                    return Mistake{
                        "float_sum",
                        sentence("The answer is that of blocks' sums of {} products, added in a float.", block),
                        "A float has 24 bits for the digits, and an int has 31: declare the sum as int, or "
                        "as unsigned. With std::accumulate, the type of the last argument is that of the "
                        "sum: 0u, and not 0.0f."};
        }
        return {};
    }

    static float add_in_turn(std::vector<float>& values) {
        float sum = 0;
        for (const float value : values) sum += value;
        return sum;
    }
    static float add_halves(std::vector<float>& values) {
        for (std::size_t half = values.size() / 2; half > 0; half /= 2)
            for (std::size_t t = 0; t < half; ++t) values[t] += values[t + half];
        return values[0];
    }
    static float add_neighbours(std::vector<float>& values) {
        for (std::size_t distance = 1; distance < values.size(); distance *= 2)
            for (std::size_t t = 0; t < values.size(); t += 2 * distance) values[t] += values[t + distance];
        return values[0];
    }

    std::uint32_t sum_of_floats(std::size_t block, float (*add)(std::vector<float>&), bool of_gpu) const {
        constexpr float end = 0x1p31f;
        std::vector<float> values(block);
        std::uint32_t total = 0;
        for (std::size_t begin = 0; begin < n_; begin += block) {
            for (std::size_t t = 0; t < block; ++t)
                values[t] = begin + t < n_ ? static_cast<float>(as_int(product(begin + t))) : 0.f;
            const float sum = add(values);
            const bool fits = sum >= -end && sum < end;
            total += fits ? static_cast<std::uint32_t>(static_cast<std::int32_t>(sum))
                          : (of_gpu && sum > 0 ? 0x7fffffffu : 0x80000000u);
        }
        return total;
    }

    /// A block's loop over whole tiles steps by more than the number of blocks: the tiles in between are lost.
    Guess try_tile_steps() {
        for (const std::size_t tile : {4096, 2048, 8192, 1024})
            for (const std::size_t step : {256, 128, 512, 1024}) {
                const std::size_t tiles = n_ / tile;
                std::uint32_t kept_sum = sum(tiles * tile, n_);
                for (std::size_t blocks = 1; blocks < std::min(step, tiles); ++blocks) {
                    for (std::size_t t = blocks - 1; t < tiles; t += step) kept_sum += sum(t * tile, (t + 1) * tile);
                    if (blocks >= 2 && kept_sum == actual_ && blocks + 1 == tiles)
                        return Mistake{
                            "rest_lost",
                            sentence("The last whole tile of {} products, {} to {}, is not in the sum.", tile,
                                     blocks * tile, tiles * tile - 1),
                            "Does the loop over whole tiles end one tile too early? With fewer than a tile's elements "
                            "there are 0 tiles, and 0 - 1 of an unsigned number is its largest value."};
                    if (blocks >= 2 && kept_sum == actual_)
                        return Mistake{
                            "steps_too_far",
                            sentence("Of every {} tiles of {} products only the first {} are in the sum.",
                                     std::min(step, tiles), tile, blocks),
                            "Each block takes one tile and continues with the tile gridDim.x tiles further on: by how "
                            "much does the loop over tiles step?"};
                }
            }
        return {};
    }

    /// Blocks that add without an atomic lose the sums that other blocks add between their read and their write, so a
    /// run of consecutive blocks is missing.
    Guess try_lost_updates() {
        constexpr std::size_t max_blocks = 2048;  // with more blocks, some run fits by chance
        for (const std::size_t block : {256, 128, 512, 1024}) {
            const std::size_t blocks = (n_ + block - 1) / block;
            if (blocks < 2 || blocks > max_blocks) continue;
            // Key: the sum of all products up to the end of a missing run. Value: the block at which the run begins.
            std::unordered_map<std::uint32_t, std::size_t> begins;
            for (std::size_t k = 0; k <= blocks; ++k) {
                const std::uint32_t kept_sum = prefix_[std::min(n_, k * block)];
                if (const auto begin = begins.find(kept_sum); begin != begins.end())
                    return Mistake{"lost_updates",
                                   sentence("The sums of blocks {} to {} (of {} elements each) are not in the answer.",
                                            begin->second, k - 1, block),
                                   "Does a thread reach these elements? If so, blocks add at the same time: out += sum "
                                   "reads, adds and writes back, and loses the sums that other blocks wrote in "
                                   "between. atomicAdd loses none."};
                begins.emplace(kept_sum + (right_ - actual_), k);
            }
        }
        return {};
    }

    const Situation& situation_;
    std::size_t n_;
    std::span<const std::uint32_t> x_, y_;
    std::uint32_t right_, actual_;
    std::vector<std::uint32_t> prefix_;                                       // [k]: sum of the first k products
    std::vector<std::uint32_t> residues_ = std::vector<std::uint32_t>(4096);  // [j]: sum of those with i % 4096 == j
};

// --- experiments ---

/// Calls the student's code with products that are 0 except for a few.
class Investigation {
  public:
    Investigation(const Situation& situation, const Experiment& call)
        : problem_(situation.problem), call_(call), n_(elements(situation.problem)) {
        problem_.arrays[a] = Array(ElementType::int32, problem_.arrays[a].count());
        problem_.arrays[b] = Array(ElementType::int32, problem_.arrays[b].count());
    }

    std::string findings() {
        if (n_ == 0) return "";
        const std::optional<std::uint32_t> of_zeros = answer({0, 0, 0});
        if (!of_zeros) return "";
        if (*of_zeros != 0)
            return sentence("If all products are 0, the answer is {}, so something else is added.",
                            std::to_string(as_int(*of_zeros)));
        constexpr std::size_t max_runs = 9;
        const Census census{n_, [this](std::size_t i) { return times(i); },
                            [this](const ElementRun& run) -> std::optional<bool> {
                                const std::optional<std::uint32_t> sum = answer(run);
                                if (!sum) return std::nullopt;
                                return *sum == static_cast<std::uint32_t>(run.times) * right_sum(run);
                            }};
        const std::string text = describe_census(take_census(census, max_runs), n_, "product", nouns);
        return text.empty() || other_.empty() ? text + other_ : text + " " + other_;
    }

  private:
    static std::uint32_t factor_a(std::size_t i) { return static_cast<std::uint32_t>(random_bits(1, 3, i)) | 1; }
    static std::uint32_t factor_b(std::size_t i) { return static_cast<std::uint32_t>(random_bits(1, 4, i)) | 1; }

    static std::uint32_t right_sum(const ElementRun& run) {
        std::uint32_t sum = 0;
        for (std::size_t i = run.begin; i < run.end; ++i) sum += factor_a(i) * factor_b(i);
        return sum;
    }

    /// Return the answer of a call in which all products outside the run are 0; nothing if the call fails.
    std::optional<std::uint32_t> answer(const ElementRun& run) {
        const auto x = problem_.arrays[a].as<std::uint32_t>(), y = problem_.arrays[b].as<std::uint32_t>();
        for (std::size_t i = 0; i < n_; ++i) {
            x[i] = i >= run.begin && i < run.end ? factor_a(i) : 0;
            y[i] = factor_b(i);
        }
        const auto outputs = call_(problem_);
        if (!outputs) return std::nullopt;
        return (*outputs)[out].as<std::uint32_t>()[0];
    }

    /// Return how many times product i is in the answer. If the answer is not a multiple of it, describe this in
    /// other_.
    std::optional<std::uint64_t> times(std::size_t i) {
        constexpr std::uint32_t max_times = 1 << 20;
        const std::optional<std::uint32_t> sum = answer({i, i + 1, 1});
        if (!sum) return std::nullopt;
        for (std::uint32_t times = 0; times <= max_times; ++times)
            if (*sum == times * factor_a(i) * factor_b(i)) return times;
        for (std::size_t j = 0; j < n_; ++j)
            if (*sum == factor_a(i) * factor_b(j)) {
                other_ = sentence("a[{}] is multiplied by b[{}].", i, j);
                return std::nullopt;
            }
        other_ = sentence("If only product {} is not 0, the answer is not a multiple of it.", i);
        return std::nullopt;
    }

    Problem problem_;
    const Experiment& call_;
    std::size_t n_;
    std::string other_;  // a sentence about an element whose contribution is not a multiple of its product
};

class DotProduct : public Oracle {
  public:
    Problem generate(const Dataset& dataset, std::uint64_t seed, std::size_t extra) const override {
        const auto& generator = find_generator(dataset, generators);
        require_only(dataset, {"n"});
        const std::int64_t n = read_size(dataset, "n");
        const std::size_t count = static_cast<std::size_t>(n) + extra;
        Problem problem{
            {n},
            {},
            {Array(ElementType::int32, count), Array(ElementType::int32, count), Array(ElementType::int32, 1)}};
        const auto x = problem.arrays[a].as<std::uint32_t>(), y = problem.arrays[b].as<std::uint32_t>();
#pragma omp parallel for
        for (std::size_t i = 0; i < x.size(); ++i) {
            const Operands operands = generator(seed, i);
            x[i] = operands.a;
            y[i] = operands.b;
        }
        return problem;
    }

    void reference(Problem& problem, Execution how) const override {
        const auto* x = problem.arrays[a].as<std::uint32_t>().data();
        const auto* y = problem.arrays[b].as<std::uint32_t>().data();
        problem.arrays[out].as<std::uint32_t>()[0] = dot(x, y, elements(problem), how);
    }

    Cost cost(const Problem& problem) const override {
        const double n = static_cast<double>(elements(problem));
        return {8 * n + 4, 8 * n + 4, 2 * n, 1, "8 n: two reads of 4 bytes each"};
    }

    std::vector<Hypothesis> hypotheses(const Situation& situation) const override {
        return Explanation(situation).hypotheses();
    }

    std::string investigate(const Situation& situation, const Experiment& call) const override {
        return Investigation(situation, call).findings();
    }
};

}  // namespace

const Oracle* warplab_oracle() {
    static const DotProduct oracle;
    return &oracle;
}

}  // namespace warplab
