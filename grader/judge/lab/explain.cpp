#include "grader/judge/lab/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "grader/common/text.h"

namespace warplab {
namespace {

/// Common block sizes, and common numbers of elements per block if each thread takes several.
constexpr std::size_t common_steps[] = {256, 128, 512, 1024, 64, 32, 2048, 4096, 8192, 16384};

std::size_t divide_up(std::size_t n, std::size_t by) { return (n + by - 1) / by; }

/// Return the block size for which exactly the last, partial block is lost; 0 if no size fits. Ignore very small sizes,
/// because a lost vector is more likely, and a few blocks of a very large size, because a grid that is too small is.
std::size_t whole_blocks(std::size_t n, std::size_t kept) {
    for (const std::size_t block : common_steps)
        if (kept == n / block * block && (block >= 128 || n - kept > 3) && (block <= 1024 || kept / block >= 8))
            return block;
    return 0;
}

std::size_t whole_vectors(std::size_t n, std::size_t kept, const Nouns& nouns) {
    for (std::size_t vector = 4; vector <= nouns.longest_vector; vector *= 2)
        if (kept == n / vector * vector) return vector;
    return 0;
}

constexpr std::size_t int_end = std::size_t{1} << 31;

Mistake int_overflow(const std::string& handled) {
    return {"int_overflow", handled + ": an int ends at 2^31 - 1, and so does an index or a count that is one.",
            "Use std::size_t for n and for the index, and widen before you multiply: std::size_t{blockIdx.x} * "
            "blockDim.x + threadIdx.x."};
}

}  // namespace

Hypothesis confirmed(const Situation& situation, Mistake mistake) {
    const auto predict = [actual = situation.actual](std::vector<Array>& outputs) {
        outputs = actual;
        return true;
    };
    return {std::move(mistake.cause), std::move(mistake.message), std::move(mistake.hint), predict};
}

std::vector<Hypothesis> first_fit(const Situation& situation, std::initializer_list<std::function<Guess()>> attempts) {
    for (const auto& attempt : attempts)
        if (Guess guess = attempt()) return {confirmed(situation, std::move(*guess))};
    return {};
}

// --- elements and the threads that handle them ---

std::size_t Reach::times_of(std::size_t i) const {
    if (period > 1 && rise && falls) {
        const std::size_t at = i < begin || i >= end ? run : (i - begin) % period;
        return at < run ? std::min({times, at / rise + 1, run - at}) : 0;
    }
    if (slices) {
        const std::size_t begun = std::min(i / period + 1, slices), ended = i < run ? 0 : (i - run) / period + 1;
        return begun - std::min(begun, ended);
    }
    const bool inside = i >= begin && i < end && (i - begin) % period - first < run;
    if (inside == others) return 0;
    std::size_t max = times;
    if (rise) max = std::min(max, i / rise + 1);
    if (falls) max = std::min(max, end - i);
    return max;
}

std::size_t Reach::handled(std::size_t n) const {
    const std::size_t all = std::min(end, n) - std::min(begin, n);
    if (slices) {
        std::size_t total = 0;
        for (std::size_t k = 0; k < slices && k * period < n; ++k) total += std::min(run, n - k * period);
        return total;
    }
    if (period > 1 && rise && falls) {
        std::size_t in_last_period = 0;
        const std::size_t last = begin + all / period * period, last_end = std::min(last + run, begin + all);
        for (std::size_t i = last; i < last_end; ++i) in_last_period += times_of(i);
        return all / period * times * (run + 1 - times) + in_last_period;
    }
    if (falls) return times * (all + 1 - times);
    std::size_t sum = 0;
    if (rise) {
        for (std::size_t k = 0; k < times && k * rise < all; ++k) sum += all - k * rise;
        return sum;
    }
    sum = all / period * run + std::clamp(all % period, first, first + run) - first;
    return times * (others ? n - sum : sum);
}

std::string blocks_of(std::size_t count, std::size_t block) {
    return sentence("{} = {} x {}", count, count / block, std::to_string(block));
}

std::size_t unscaled_end(std::size_t n, std::size_t block) { return n > block ? divide_up(n, block) + block - 1 : 0; }

Mistake block_size_forgotten(const std::string& handled) {
    return {"block_size_forgotten", handled + ": as many as blocks + threads in a block - 1.",
            "blockIdx.x + threadIdx.x reaches only these. Blocks begin blockDim.x elements apart: blockIdx.x * "
            "blockDim.x + threadIdx.x."};
}

Reach swapped_reach(std::size_t n, std::size_t block) {
    return {.end = n, .period = block, .run = divide_up(n, block), .slices = block};
}

Mistake block_thread_swapped(const std::string& handled, std::size_t block) {
    return {"block_thread_swapped",
            sentence("{}: those that threadIdx.x * blockDim.x + blockIdx.x reaches with blocks of {}.", handled, block),
            "Are blockIdx.x and threadIdx.x exchanged? The index is blockIdx.x * blockDim.x + threadIdx.x. If each "
            "thread takes a slice: slice t begins at t times the length of a slice, not t * blockDim.x."};
}

std::string name_numbers(std::size_t first, std::size_t run) {
    constexpr const char* ordinals[] = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"};
    if (run == 1 && first < std::size(ordinals)) return std::string("the ") + ordinals[first];
    if (first == 0) return "the first " + format_count(run);
    return run == 1 ? sentence("number {} (from 0)", first)
                    : sentence("numbers {} to {} (from 0)", first, first + run - 1);
}

std::string describe_part(const Reach& part, const Nouns& nouns) {
    return sentence("Of every {} {}{} {}{} {}{}.", part.period, nouns.elements,
                    part.begin ? sentence(" from number {} on", part.begin) : "", part.others ? "" : "only ",
                    name_numbers(part.first, part.run), part.run == 1 ? "is " : "are ",
                    (part.others ? "not " : "") + nouns.done);
}

/// Return the mistake for the index `blockIdx.x * gridDim.x + threadIdx.x`. The message begins with `handled`.
static Mistake blocks_apart_by_their_number(const std::string& handled, std::size_t n, std::size_t block) {
    const std::size_t blocks = divide_up(n, block);
    return {
        "block_size_forgotten",
        sentence("{} It is as if blocks of {} threads began {} elements apart, and {} is the number of these blocks.",
                 handled, block, blocks, blocks),
        "Blocks begin blockDim.x elements apart: blockIdx.x * blockDim.x + threadIdx.x. gridDim.x is the number of "
        "blocks."};
}

Mistake name_prefix(std::size_t n, std::size_t kept, const Nouns& nouns) {
    const std::size_t lost_count = n - kept;
    const std::string counts = sentence("Only the first {} of {} {} {}", kept, n, nouns.elements, nouns.are_done(kept));
    if (kept == int_end) return int_overflow(counts);
    const std::size_t block = whole_blocks(n, kept), vector = whole_vectors(n, kept, nouns);
    if (block > 1024 && !vector)
        return {"tail_lost",
                sentence("{} ({}): the last {} {} no thread.", counts, blocks_of(kept, block), lost_count,
                         lost_count == 1 ? "has" : "have"),
                sentence("What is {} in your code: the elements of a block, or all threads of the grid? If the number "
                         "of elements is divided by it, the division rounds down: round it up, and test each index.",
                         std::to_string(block))};
    if (block && !(vector && (block < 128 || nouns.longest_vector > 4)))
        return {"tail_lost",
                sentence("{} ({}): {} / {} rounds down, and the last {} {} no thread.", counts, blocks_of(kept, block),
                         n, std::to_string(block), lost_count, lost_count == 1 ? "has" : "have"),
                fmt::format("Round the number of blocks up, (n + {} - 1) / {}, and let threads past the end {}.", block,
                            block, nouns.idle)};
    if (vector)
        return {
            "vector_tail_lost",
            sentence("{}: {} whole vectors of {}. The {} after them {} lost.", counts, kept / vector,
                     vector == 4 ? "four" : std::to_string(vector), lost_count, lost_count == 1 ? "is" : "are"),
            sentence(
                "n need not be a multiple of {0}: handle the last n % {0} one by one. They begin at index n / {0} * "
                "{0}: is that where the code for them begins?",
                vector)};
    if (kept >= 32 && kept <= 1024 && std::has_single_bit(kept))
        return {"one_block_only", counts + ": one block's worth.",
                "Does the index contain blockIdx.x * blockDim.x, and does the grid have more than one block?"};
    if (kept == 1)
        return {"one_element_only", sentence("Only the first of {} {} {}.", n, nouns.elements, nouns.are_done(1)),
                "Each thread needs a different index: blockIdx.x * blockDim.x + threadIdx.x. Are the two exchanged, "
                "or does only one thread run?"};
    if (lost_count == 1)
        return {nouns.last_lost, counts + ": the last one is left out.",
                "Indices run from 0 to n - 1: is the guard i < n, and not i < n - 1?"};
    for (const std::size_t block : common_block_sizes)
        if (kept == unscaled_end(n, block)) return block_size_forgotten(counts);
    for (const std::size_t block : common_block_sizes)
        if (kept == (block - 1) * block + divide_up(n, block)) return block_thread_swapped(counts, block);
    for (const std::size_t block : common_block_sizes) {
        const std::size_t blocks = divide_up(n, block);
        if (blocks > 2 && kept == (blocks - 1) * blocks + block)
            return blocks_apart_by_their_number(counts + ".", n, block);
    }
    if (kept == n / 4)
        return {"bytes_not_elements", counts + ": exactly a quarter.",
                "cudaMemcpy and cudaMemset count bytes, and a float or an int has four: n * sizeof(float)."};
    // Threads come in whole warps, so a grid that is too small ends at a multiple of 32.
    if (kept % 32)
        return {"rest_lost", counts + ".",
                "Which line computes where the threads stop: the number of elements, or of vectors or steps? And does "
                "every path of the kernel handle its elements, the last ones too?"};
    return {
        "grid_too_small", sentence("{}, as if {} threads took one each.", counts, kept),
        "Either launch a thread for each of them, or let each thread continue in a loop: i += gridDim.x * blockDim.x. "
        "If each thread takes several elements in a row: does their number, n / threads, round down?"};
}

Mistake name_share(std::size_t n, std::size_t block, std::size_t blocks, std::size_t k, const Nouns& nouns) {
    const Reach share{.end = n, .period = block * blocks, .first = k * block, .run = block};
    const std::size_t count = share.handled(n);
    const bool has_stride = block * blocks < n;
    return {
        "one_block_only",
        sentence("Only one block's {} are {}: those of block {} of {}, {} {}{}.", nouns.elements, nouns.done, k, blocks,
                 count, nouns.elements, has_stride ? "" : sentence(", {} to {}", k * block, k * block + count - 1)),
        "Blocks overwrite each other's result, at the same time and in any order: let every block add its own with "
        "atomicAdd to a result that is set to 0 before the launch."};
}

Guess guess_tail(std::size_t n, const Nouns& nouns, const Fits& fits) {
    std::vector<std::size_t> candidates;
    for (std::size_t vector = 4; vector <= nouns.longest_vector; vector *= 2) candidates.push_back(n / vector * vector);
    for (const std::size_t block : common_steps) candidates.push_back(n / block * block);
    candidates.insert(candidates.end(), {n - 1, n / 4, int_end});
    for (const std::size_t block : common_block_sizes) candidates.push_back(unscaled_end(n, block));
    for (const std::size_t kept : candidates)
        if (kept > 0 && kept < n && fits(prefix(kept))) return name_prefix(n, kept, nouns);
    return {};
}

Guess guess_share(std::size_t n, const Nouns& nouns, const Fits& fits, bool strides) {
    constexpr std::size_t max_blocks = 4096;
    for (const std::size_t block : common_block_sizes) {
        if (block < 128 && n <= 1024) continue;  // more likely a warp of one block
        const std::size_t pieces = divide_up(n, block);
        const auto is_all = [&](std::size_t blocks, std::size_t k) {
            return fits({.end = n, .period = block * blocks, .first = k * block, .run = block});
        };
        for (std::size_t k = pieces; pieces > 1 && k-- > 0;)
            if (is_all(pieces, k)) return name_share(n, block, pieces, k, nouns);
        for (std::size_t blocks = strides ? std::min(pieces, max_blocks) : 0; blocks > 1; --blocks)
            for (const std::size_t k : {blocks - 1, std::size_t{0}, blocks / 2})
                if (is_all(blocks, k)) return name_share(n, block, blocks, k, nouns);
    }
    return {};
}

Guess guess_repeated(std::size_t n, const Nouns& nouns, const Fits& fits) {
    constexpr std::size_t max_blocks = 2048;
    for (const std::size_t block : common_block_sizes) {
        if (n > block && fits(swapped_reach(n, block)))
            return block_thread_swapped(
                divide_up(n, block) > block
                    ? sentence("Some {} are {} several times, others never", nouns.elements, nouns.done)
                    : sentence("Of every {} {} only the first {} are {}", block, nouns.elements, divide_up(n, block),
                               nouns.done),
                block);
        if (n > 1 && fits({.end = n, .times = block, .rise = 1}))
            return Mistake{
                "counted_too_often",
                sentence("The first of the {} is {} once, the next one twice, and so on, up to {} times: the loop of "
                         "each of {} threads steps by 1.",
                         nouns.elements, nouns.done, std::min(block, n), block),
                "The step of a thread's loop is the number of threads: blockDim.x in a single block, gridDim.x * "
                "blockDim.x in a grid."};
        for (std::size_t blocks = std::min(divide_up(n, block), max_blocks); blocks > 1; --blocks) {
            const std::size_t reached = blocks + block - 1, max_times = std::min(block, blocks);
            if (fits({.end = block, .times = blocks}))
                return Mistake{
                    "block_index_forgotten",
                    sentence("The first {} {} are {} {} times, and no others.", block, nouns.elements, nouns.done,
                             blocks),
                    "Which element a thread takes depends on its block: blockIdx.x * blockDim.x + threadIdx.x."};
            if (reached <= n && fits({.end = reached, .times = max_times, .rise = 1, .falls = true}))
                return block_size_forgotten(sentence("Only the first {} {} are {}, most of them {} times", reached,
                                                     nouns.elements, nouns.done, max_times));
            if (block * blocks < n &&
                fits(
                    {.end = n, .period = block * blocks, .run = reached, .times = max_times, .rise = 1, .falls = true}))
                return block_size_forgotten(sentence("Of every {} {} only the first {} are {}, most of them {} times",
                                                     block * blocks, nouns.elements, reached, nouns.done, max_times));
            if (fits({.end = n, .times = blocks, .rise = block}))
                return Mistake{
                    "counted_too_often",
                    sentence("Only the first {0} {1} are {2} once, the next {0} twice, and so on, up to {3} times: the "
                             "loop of each of {3} blocks steps by one block.",
                             block, nouns.elements, nouns.done, blocks),
                    "The step of the loop is the number of threads of the grid: i += gridDim.x * blockDim.x."};
            const Reach first_block{.end = n, .period = block * blocks, .run = block, .times = blocks};
            if (block * blocks < n && fits(first_block))
                return Mistake{"block_index_forgotten",
                               sentence("{} These {} {} {} times.", describe_part(first_block, nouns), nouns.elements,
                                        nouns.are_done(2), blocks),
                               "Where a thread's loop begins depends on its block: i = blockIdx.x * blockDim.x + "
                               "threadIdx.x."};
        }
    }
    return {};
}

/// Find loops that step by one more, or one less, than the number of threads.
static Guess guess_stride_off_by_one(std::size_t n, const Nouns& nouns, const Fits& fits) {
    constexpr std::size_t max_blocks = 64;
    const auto wrong_step = [&](std::size_t threads, const char* off, const std::string& effect) {
        return Mistake{
            "step_off_by_one",
            sentence("The step of the loop is one {} {}, the number of threads: {}.", off, threads, effect),
            "Thread t of a block or a grid takes elements t, t + threads, t + 2 * threads and so on: the step "
            "is exactly the number of threads."};
    };
    for (const std::size_t block : common_block_sizes)
        for (std::size_t blocks = 1; blocks <= max_blocks && block * blocks < n; ++blocks) {
            const std::size_t threads = block * blocks;
            if (fits({.end = n, .period = threads + 1, .run = threads}))
                return wrong_step(threads, "more than", "one element is left out in each step");
            if (fits({.end = n, .period = threads - 1, .run = threads, .slices = divide_up(n, threads - 1)}))
                return wrong_step(threads, "less than",
                                  sentence("one of the {} is {} twice in each step", nouns.elements, nouns.done));
        }
    return {};
}

Guess guess_long_stride(std::size_t n, const Nouns& nouns, const Fits& fits) {
    constexpr std::size_t max_blocks = 2048;
    if (Guess guess = guess_stride_off_by_one(n, nouns, fits)) return guess;
    for (const std::size_t block : common_block_sizes)
        for (std::size_t blocks = 1; blocks <= max_blocks && block * blocks < n; ++blocks)
            for (const std::size_t times : {2, 4, 8})
                if (const Reach part{.end = n, .period = times * block * blocks, .run = block * blocks}; fits(part))
                    return Mistake{
                        "stride_too_long", describe_part(part, nouns),
                        "The step of the loop is the number of threads of the grid: i += gridDim.x * blockDim.x."};
    return {};
}

Guess guess_unwritten(std::size_t n, const Nouns& nouns, const std::function<bool(std::size_t i)>& is_unwritten,
                      const Fits& gives) {
    const auto next = [&](std::size_t i, bool expected) {
        while (i < n && is_unwritten(i) != expected) ++i;
        return i;
    };
    const std::size_t first = next(0, true), end = next(first, false), again = next(end, true);
    if (first == n) return {};
    if (first == 0 && end <= 32 && end < n && again == n && gives({.begin = end, .end = n}))
        return Mistake{"first_lost",
                       sentence("Of {} {} the first{} not {}; all others are.", n, nouns.elements,
                                end == 1 ? std::string(" is") : " " + format_count(end) + " are", nouns.done),
                       "Blocks and threads are numbered from 0, as elements are: is something added to the index, or "
                       "does a loop begin too late?"};
    if (first == 0 && end == n)
        return n > int_end ? int_overflow("No element is " + nouns.done)
                           : Mistake{"never_written",
                                     "No element is " + nouns.done + ": all have their values from before the call.",
                                     "Is the kernel launched, and does it write to the output?"};
    if (gives(prefix(first))) return name_prefix(n, first, nouns);
    if (end < n && n - end < nouns.longest_vector && end % nouns.longest_vector == 0 && again == n &&
        gives({.end = n, .period = n, .first = first, .run = end - first, .others = true}))
        return Mistake{
            "tail_lost",
            sentence("Of the {}, numbers {} to {} are not {}; those before them are, and so {} the {} after "
                     "the last whole vector.",
                     nouns.elements, first, end - 1, nouns.done, std::string(n - end == 1 ? "is" : "are"), n - end),
            "How many vectors does a block handle? Round their number up when you compute the number of "
            "blocks: (vectors + per_block - 1) / per_block."};
    const std::size_t period = again - first, run = end - first;
    Reach written{.end = n, .period = period, .first = first, .run = run, .others = true};
    if (first >= period) written.begin = first, written.first = 0;
    if (again == n || !gives(written)) return {};
    if (first + run == period) written = {.end = n, .period = period, .run = first};
    for (const std::size_t block : common_block_sizes)
        if (period == block && first == divide_up(n, block) && first + run == period)
            return block_thread_swapped(
                describe_part(written, nouns).substr(0, describe_part(written, nouns).size() - 1), block);
    for (const std::size_t block : common_block_sizes)
        if (period == divide_up(n, block) && first == block && first + run == period)
            return blocks_apart_by_their_number(describe_part(written, nouns), n, block);
    if (period == 4)
        return Mistake{"component_lost", describe_part(written, nouns),
                       "A vector has four components, x, y, z and w: are all four handled and stored?"};
    return Mistake{
        "steps_too_far", describe_part(written, nouns),
        "No thread takes the others. Does each block begin where the previous one ends: at blockIdx.x times the number "
        "of elements that a block takes, which is blockDim.x if each thread takes one? If there is a loop, its step is "
        "the number of threads of the grid, gridDim.x * blockDim.x."};
}

Mistake tail_twice(std::size_t n, std::size_t begin, const Nouns& nouns) {
    return {"tail_twice",
            begin + 1 == n
                ? sentence("Of {} {} the last one is {} twice.", n, nouns.elements, nouns.done)
                : sentence("The last {} {}, from {} on, are {} twice.", n - begin, nouns.elements, begin, nouns.done),
            "Handle each element after the whole vectors or blocks once, by one thread."};
}

Mistake empty_not_written(const std::string& output, const std::string& reason) {
    return {"empty_not_written",
            sentence("Without elements, {} still has its value from before the call: {}, and has to be written.",
                     output, reason),
            sentence("Set {} to 0 before you return early.", output)};
}

Mistake stale_result(const std::string& what, const std::string& inputs) {
    return {"stale_result", sentence("{} of the previous call, although {} changed since.", what, inputs),
            "Do not reuse results that depend on the inputs of an earlier call: compute from the present inputs."};
}

Guess guess_stale(const Situation& situation, std::size_t output, const std::string& what, const std::string& inputs) {
    if (!situation.previous) return {};
    const Array &old = situation.previous->arrays[output], &actual = situation.actual[output];
    if (old.bytes() != actual.bytes() || std::memcmp(old.data(), actual.data(), actual.bytes()) != 0) return {};
    return stale_result(what, inputs);
}

}  // namespace warplab
