#include "grader/judge/lab/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "grader/common/text.h"
#include "grader/model/recipe.h"

namespace warplab {
namespace {

enum Buffer { a, b, out };

std::size_t elements(const Problem& problem) { return static_cast<std::size_t>(problem.sizes[0]); }

// --- generators ---

struct Operands {
    std::uint32_t a, b;  // bits of the ints
};

/// Any value.
Operands random_operands(std::uint64_t seed, std::size_t i) {
    const std::uint64_t bits = random_bits(seed, 0, i);
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}

/// The sum is the number of products.
Operands one_operands(std::uint64_t, std::size_t) { return {1, 1}; }

/// Products of about 2^24 and alternating sign: the sum stays small.
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

/// Products are single bits.
Operands power_operands(std::uint64_t seed, std::size_t i) {
    const std::uint64_t bits = random_bits(seed, 2, i);
    return {1u << bits % 16, 1u << bits / 16 % 16};
}

template <Operands at(std::uint64_t, std::size_t)>
void fill(Problem& problem, std::uint64_t seed) {
    const auto x = problem.arrays[a].as<std::uint32_t>(), y = problem.arrays[b].as<std::uint32_t>();
#pragma omp parallel for
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Operands operands = at(seed, i);
        x[i] = operands.a;
        y[i] = operands.b;
    }
}

const std::map<std::string, void (*)(Problem&, std::uint64_t)> generators = {
    {"random", fill<random_operands>},
    {"ones", fill<one_operands>},
    {"alternating", fill<alternating_operands>},
    {"extremes", fill<extreme_operands>},
    {"powers_of_two", fill<power_operands>}};

// --- references; unsigned arithmetic wraps around, as the contract says ---

std::uint32_t dot_sequential(const std::uint32_t* x, const std::uint32_t* y, std::size_t n) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

std::uint32_t dot_openmp(const std::uint32_t* x, const std::uint32_t* y, std::size_t n) {
    std::uint32_t sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

// --- what students' mistakes would give ---

constexpr std::size_t usual_blocks[] = {256, 128, 512, 1024, 64, 32};
constexpr std::size_t most_explained = 1 << 28;  // elements: beyond that, sums of all prefixes take too much memory

std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::string blocks_of(std::size_t count, std::size_t block) {
    return fmt::format("{} = {} x {}", format_count(count), format_count(count / block), block);
}

/// Compares the wrong answer with what each mistake gives, likelier ones first, until one fits.
class Explanation {
  public:
    explicit Explanation(const Situation& situation)
        : n_(elements(situation.problem)),
          x_(situation.problem.arrays[a].as<std::uint32_t>()),
          y_(situation.problem.arrays[b].as<std::uint32_t>()),
          right_(situation.problem.arrays[out].as<std::uint32_t>()[0]),
          actual_(situation.actual[out].as<std::uint32_t>()[0]),
          before_(situation.before[out].as<std::uint32_t>()[0]),
          beyond_(situation.beyond) {
        if (situation.previous) previous_ = situation.previous->arrays[out].as<std::uint32_t>()[0];
        const auto attempts = {&Explanation::try_empty,           &Explanation::try_output_not_cleared,
                               &Explanation::try_stale_result,    &Explanation::try_reads_past_the_end,
                               &Explanation::try_tail_lost,       &Explanation::try_one_block_only,
                               &Explanation::try_whole_warps,     &Explanation::try_part_of_each_block,
                               &Explanation::try_missing_barrier, &Explanation::try_run_lost,
                               &Explanation::try_repeated,        &Explanation::try_other_operation,
                               &Explanation::try_saturated,       &Explanation::try_stale_shared_memory,
                               &Explanation::try_odd_trees,       &Explanation::try_lost_updates};
        if (actual_ == right_) return;
        if (n_ <= most_explained) sum_prefixes();
        for (const auto attempt : attempts)
            if (found_.empty()) (this->*attempt)();
    }

    std::vector<Hypothesis> found() && { return std::move(found_); }

  private:
    bool fits(std::uint32_t value) const { return found_.empty() && value == actual_; }

    void explain(std::string cause, std::string message, std::string hint) {
        found_.push_back(
            {std::move(cause), std::move(message), std::move(hint), [value = actual_](std::vector<Array>& outputs) {
                 outputs[out].as<std::uint32_t>()[0] = value;
                 return true;
             }});
    }

    void sum_prefixes() {
        prefix_.resize(n_ + 1);
        for (std::size_t i = 0; i < n_; ++i) prefix_[i + 1] = prefix_[i] + product(i);
    }

    std::uint32_t product(std::size_t i) const { return x_[i] * y_[i]; }
    std::uint32_t sum(std::size_t begin, std::size_t end) const { return prefix_[end] - prefix_[begin]; }
    bool has_prefixes() const { return !prefix_.empty(); }

    void try_empty() {
        if (n_ == 0 && fits(before_))
            explain("empty_not_written",
                    "For n = 0 out still holds what it held before the call: the sum of nothing is 0, and it has to be "
                    "written.",
                    "Set out to 0 before you return early.");
    }

    void try_output_not_cleared() {
        // First, for a second call finds in out what the first one left: had out been at fault, that would have failed.
        if (previous_ != 0 && fits(right_ + previous_))
            explain("not_cleared",
                    fmt::format("The answer is the right one, {}, plus {}, which was the answer of the call before.",
                                as_int(right_), as_int(previous_)),
                    "What the blocks add to is to be 0 at the beginning of every call, not only of the first.");
        if (before_ != 0 && fits(right_ + before_))
            explain(
                "not_cleared",
                fmt::format("The answer is the right one, {}, plus {}, which is what out held before the call.",
                            as_int(right_), as_int(before_)),
                "out holds garbage before the call: set it to 0, in every call, before the first block adds to it.");
    }

    void try_stale_result() {
        if (previous_ != 0 && fits(previous_))
            explain("stale_result", "The answer is that of the call before, although a and b have changed since.",
                    "Nothing may be kept from one call to the next: compute from what a and b hold now.");
    }

    void try_reads_past_the_end() {
        const std::uint32_t product_beyond = beyond_ * beyond_;
        if (fits(right_ + product_beyond))
            explain("read_past_end",
                    fmt::format("Element {} is in the sum; the last one is {}.", format_count(n_),
                                n_ ? format_count(n_ - 1) : "none"),
                    "Indices run from 0 to n - 1: the guard is i < n, not i <= n.");
        for (const std::size_t block : {256, 128, 512, 1024, 64, 32, 4, 2048, 4096, 8192}) {
            const std::size_t covered = round_up(n_, block);
            if (fits(right_ + static_cast<std::uint32_t>(covered - n_) * product_beyond))
                explain("read_past_end",
                        fmt::format("{} products from beyond the end are in the sum: {} elements were read ({}), and "
                                    "there are {}.",
                                    format_count(covered - n_), format_count(covered), blocks_of(covered, block),
                                    format_count(n_)),
                        "Threads past the end have no product: let them add 0 where i >= n.");
        }
    }

    void try_tail_lost() {
        if (!has_prefixes()) return;
        if (fits(0))
            explain("nothing_added", "The answer is 0: no product is in the sum.",
                    "Does every block add its sum to out, and after out is set to 0?");
        if (n_ > 4 && n_ % 4 && fits(prefix_[n_ / 4 * 4]) && n_ / 256 * 256 != n_ / 4 * 4)
            explain("vector_tail_lost",
                    fmt::format("Only the first {} of {} products are in the sum: {} whole vectors of four. The {} "
                                "after them are lost.",
                                format_count(n_ / 4 * 4), format_count(n_), format_count(n_ / 4), n_ % 4),
                    "n need not be a multiple of 4: add the last n % 4 products one by one.");
        for (const std::size_t block : {256, 128, 512, 1024, 64, 32, 2048, 4096, 8192, 16384}) {
            const std::size_t kept = n_ / block * block;
            if (kept != n_ && kept != 0 && fits(prefix_[kept]))
                explain("tail_lost",
                        fmt::format("Only the first {} of {} products are in the sum ({}): {} / {} rounds down, and "
                                    "the last {} have no thread.",
                                    format_count(kept), format_count(n_), blocks_of(kept, block), format_count(n_),
                                    block, format_count(n_ - kept)),
                        fmt::format("Round the number of blocks up, (n + {} - 1) / {}, and let threads past the end "
                                    "add 0.",
                                    block, block));
        }
        if (n_ > 1 && fits(prefix_[n_ - 1]))
            explain("last_element_lost", "The last product is not in the sum.",
                    "Indices run from 0 to n - 1: is the guard i < n, and not i < n - 1?");
    }

    void try_one_block_only() {
        if (!has_prefixes()) return;
        for (const std::size_t block : usual_blocks) {
            const std::size_t blocks = round_up(n_, block) / block;
            if (blocks < 2 || (block < 128 && n_ <= 1024)) continue;  // there, rather a warp of one block
            for (std::size_t k = blocks; k-- > 0;) {
                const std::size_t begin = k * block, end = std::min(n_, begin + block);
                if (!fits(sum(begin, end))) continue;
                explain(
                    "one_block_only",
                    fmt::format("The answer is the sum of one block alone, of {}: elements {} to {} of {}.",
                                block_name(k, blocks), format_count(begin), format_count(end - 1), format_count(n_)),
                    "Blocks overwrite each other's sum: all of them write to the same out, at the same time and in "
                    "any order. atomicAdd adds without losing any.");
                return;
            }
        }
    }

    static std::string block_name(std::size_t k, std::size_t blocks) {
        if (k == 0) return "the first block";
        if (k + 1 == blocks) return fmt::format("the last block, {}", format_count(k));
        return fmt::format("block {}", format_count(k));
    }

    void try_whole_warps() {
        if (!has_prefixes()) return;
        for (std::size_t kept = 32; kept < n_ && found_.empty(); kept += 32)
            if (fits(prefix_[kept])) explain_prefix(kept);
    }

    void try_run_lost() {
        if (!has_prefixes()) return;
        for (std::size_t k = 1; k < n_ && found_.empty(); ++k) {
            if (fits(prefix_[k])) explain_prefix(k);
            if (fits(right_ - prefix_[k]))
                explain("first_lost", fmt::format("The first {} products are not in the sum.", format_count(k)),
                        "Does something set out, or the block's sum, to 0 after the first blocks have added to it?");
        }
    }

    void explain_prefix(std::size_t kept) {
        const bool one_block = n_ <= 1024;
        explain(
            one_block ? "block_incomplete" : "grid_too_small",
            kept == 1
                ? fmt::format("Only the first of {} products is in the sum.", format_count(n_))
                : fmt::format("Only the first {} of {} products are in the sum.", format_count(kept), format_count(n_)),
            one_block ? "The sum over the block leaves out the others, or is used before they have been added: look "
                        "at the loop and at its __syncthreads()."
                      : "Either launch a thread for every element, or let each thread loop on: "
                        "i += gridDim.x * blockDim.x.");
    }

    /// residues_[j]: sum of all products with i % 4096 == j. From these follow the sums by thread of every usual block.
    void sum_residues() {
        if (!residues_.empty() || n_ > 1 << 26) return;
        residues_.resize(4096);
        for (std::size_t i = 0; i < n_; ++i) residues_[i % residues_.size()] += product(i);
    }

    /// Sums of the products with i % period == 0, 1, …
    std::vector<std::uint32_t> sums_modulo(std::size_t period) const {
        std::vector<std::uint32_t> sums(period);
        for (std::size_t j = 0; j < residues_.size(); ++j) sums[j % period] += residues_[j];
        return sums;
    }

    void try_part_of_each_block() {
        sum_residues();
        if (residues_.empty()) return;
        for (const std::size_t period : {256, 128, 512, 1024, 64, 32, 16, 8, 4, 2, 2048, 4096})
            if (period < n_ && found_.empty()) try_part_of_every(period);
    }

    void try_part_of_every(std::size_t period) {
        const std::vector<std::uint32_t> sums = sums_modulo(period);
        std::uint32_t first = 0;
        for (std::size_t count = 1; count < period; ++count) {
            first += sums[count - 1];
            if (fits(first)) explain_part(period, count, false);
            if (2 * count <= period && fits(right_ - first)) explain_part(period, count, true);
        }
        for (std::size_t j = 0; j < period; ++j) {
            if (fits(sums[j]))
                explain("block_incomplete",
                        fmt::format("Of every {} products only number {} is in the sum.", format_count(period), j),
                        "Do all threads of a block write to the same place? Each needs one of its own, such as "
                        "products[threadIdx.x].");
            if (fits(right_ - sums[j]))
                explain("block_incomplete",
                        fmt::format("Of every {} products number {} is left out.", format_count(period), j),
                        "Look at where the loop over the block's products begins, how it steps and when it ends.");
        }
    }

    /// The first `count` of every `period` products are all that is there, or are all that is missing.
    void explain_part(std::size_t period, std::size_t count, bool missing) {
        const bool one = count == 1;
        explain("block_incomplete",
                fmt::format("Of every {} products {}the first {}{}{}.", format_count(period), missing ? "" : "only ",
                            one ? "" : format_count(count) + " ", one ? "is" : "are",
                            missing ? " left out" : " in the sum"),
                one && !missing && period >= 32
                    ? "Thread 0's sum is used before the others' have been added to it: the sum over the "
                      "block, or a __syncthreads() before it, is missing."
                    : "The sum over a block or warp leaves out the others: look at where its loop begins, "
                      "how it steps and when it ends.");
    }

    /// Thread 0 goes through all steps of the tree before any other thread has added anything.
    void try_missing_barrier() {
        if (residues_.empty()) return;
        for (const std::size_t block : usual_blocks) {
            if (n_ <= 2) continue;
            const std::vector<std::uint32_t> threads = sums_modulo(block);
            std::uint32_t added = threads[0];
            for (std::size_t distance = 1; distance < block; distance *= 2) added += threads[distance];
            if (fits(added))
                explain(
                    "missing_barrier",
                    fmt::format("Of every block of {} only the products 0, 1, 2, 4, 8 … {} are in the sum: thread 0 "
                                "went through all steps of the tree before the other threads had added theirs.",
                                block, block / 2),
                    "Between two steps of the tree every thread has to wait for all others: __syncthreads() inside "
                    "the loop, after the if.");
        }
    }

    void try_repeated() {
        for (std::uint32_t times = 2; times <= 1024; times *= 2)
            if (fits(right_ * times))
                explain("added_repeatedly", fmt::format("The answer is {} times the right one.", times),
                        "Only one thread of a block may add the block's sum: if (threadIdx.x == 0) atomicAdd(…).");
        if (!has_prefixes()) return;
        for (const std::size_t part : {4, 256, 128, 512, 1024, 64, 32, 2048, 4096, 8192}) {
            const std::size_t begin = n_ / part * part;
            if (begin != n_ && fits(right_ + sum(begin, n_)))
                explain("tail_twice",
                        fmt::format("The last {} products, from {} on, are in the sum twice.", format_count(n_ - begin),
                                    format_count(begin)),
                        "What is left after the whole vectors or blocks is added by one thread each, once.");
        }
    }

    void try_other_operation() {
        std::uint32_t sum_a = 0, sum_b = 0, squares_a = 0, squares_b = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            sum_a += x_[i];
            sum_b += y_[i];
            squares_a += x_[i] * x_[i];
            squares_b += y_[i] * y_[i];
        }
        const std::pair<std::uint32_t, const char*> sums[] = {{sum_a, "a[i]"},
                                                              {sum_b, "b[i]"},
                                                              {sum_a + sum_b, "a[i] + b[i]"},
                                                              {sum_a - sum_b, "a[i] - b[i]"},
                                                              {squares_a, "a[i] * a[i]"},
                                                              {squares_b, "b[i] * b[i]"}};
        for (const auto& [value, text] : sums)
            if (fits(value))
                explain("wrong_operation",
                        fmt::format("The answer is the sum of {}; it should be that of a[i] * b[i].", text), "");
    }

    void try_saturated() {
        using limits = std::numeric_limits<std::int32_t>;
        if (!fits(static_cast<std::uint32_t>(limits::max())) && !fits(static_cast<std::uint32_t>(limits::min())))
            return;
        explain("saturated",
                fmt::format("The answer is {}, the {} int: the sum stopped there instead of wrapping around.",
                            as_int(actual_), as_int(actual_) > 0 ? "largest" : "smallest"),
                "Keep products and sums in int (or unsigned): float and double round, and converting them back to int "
                "saturates.");
    }

    /// Slots of threads past the end still hold what another block left in shared memory.
    void try_stale_shared_memory() {
        if (!has_prefixes()) return;
        for (const std::size_t block : usual_blocks) {
            const std::size_t rest = n_ % block;
            for (std::size_t begin = 0; rest != 0 && begin + block <= n_ && found_.empty(); begin += block)
                if (fits(right_ + sum(begin + rest, begin + block)))
                    explain(
                        "stale_shared",
                        fmt::format("The last block, of {} products, adds {} more: elements {} to {}, which another "
                                    "block left in shared memory.",
                                    rest, block - rest, format_count(begin + rest), format_count(begin + block - 1)),
                        "Threads past the end must neither return before the __syncthreads() nor leave their slot "
                        "as it is: they store 0.");
        }
    }

    /// A tree that halves a block whose size is no power of two drops a sum at each odd step.
    void try_odd_trees() {
        if (n_ > 1 << 22) return;
        for (const std::size_t block : {192, 200, 320, 224, 300, 480, 500, 576, 700, 832, 900})
            if (found_.empty() && fits(sum_of_halving_tree(block)))
                explain("tree_not_power_of_two",
                        fmt::format("With blocks of {} threads (or twice or half as many) the tree loses sums: halving "
                                    "comes to odd numbers, and the sum without a partner is dropped.",
                                    block),
                        "Use a block size that is a power of two, or add the sum without a partner as well.");
    }

    std::uint32_t sum_of_halving_tree(std::size_t block) const {
        std::vector<std::uint32_t> sums(block);
        for (std::size_t begin = 0; begin < n_; begin += block)
            for (std::size_t t = 0; t < block && begin + t < n_; ++t) sums[t] += product(begin + t);
        for (std::size_t half = block / 2; half > 0; half /= 2)
            for (std::size_t t = 0; t < half; ++t) sums[t] += sums[t + half];
        return sums[0];
    }

    /// Blocks that read, add and write back without an atomic lose the sums of blocks between: a run of them is
    /// missing.
    void try_lost_updates() {
        constexpr std::size_t most_blocks = 2048;  // beyond, chance would find a run that fits
        if (!has_prefixes()) return;
        for (const std::size_t block : {256, 128, 512, 1024}) {
            const std::size_t blocks = round_up(n_, block) / block;
            if (blocks < 2 || blocks > most_blocks) continue;
            std::unordered_map<std::uint32_t, std::size_t> begins;  // of missing runs, by the prefix at their end
            for (std::size_t k = 0; k <= blocks && found_.empty(); ++k) {
                const std::uint32_t prefix = prefix_[std::min(n_, k * block)];
                if (const auto begin = begins.find(prefix); begin != begins.end())
                    explain(
                        "lost_updates",
                        fmt::format("The sums of blocks {} to {} (of {} elements each) are not in the answer.",
                                    format_count(begin->second), format_count(k - 1), block),
                        "Blocks add at the same time: out += sum reads, adds and writes back, and loses what others "
                        "wrote in between. Use atomicAdd.");
                begins.emplace(prefix + (right_ - actual_), k);
            }
        }
    }

    static std::int32_t as_int(std::uint32_t bits) { return static_cast<std::int32_t>(bits); }

    std::size_t n_;
    std::span<const std::uint32_t> x_, y_;
    std::uint32_t right_, actual_, before_, previous_ = 0, beyond_;
    std::vector<std::uint32_t> prefix_;  // prefix_[k]: sum of the first k products
    std::vector<std::uint32_t> residues_;
    std::vector<Hypothesis> found_;
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
        generator(problem, seed);
        return problem;
    }

    void reference(Problem& problem, Execution how) const override {
        const auto* x = problem.arrays[a].as<std::uint32_t>().data();
        const auto* y = problem.arrays[b].as<std::uint32_t>().data();
        problem.arrays[out].as<std::uint32_t>()[0] =
            (how == Execution::sequential ? dot_sequential : dot_openmp)(x, y, elements(problem));
    }

    Cost cost(const Problem& problem) const override {
        const double n = static_cast<double>(elements(problem));
        return {8 * n + 4, 8 * n + 4, 2 * n, 1, "8 n: two reads of 4 bytes each"};
    }

    std::vector<Hypothesis> hypotheses(const Situation& situation) const override {
        return Explanation(situation).found();
    }
};

}  // namespace

const Oracle* warplab_oracle() {
    static const DotProduct oracle;
    return &oracle;
}

}  // namespace warplab
