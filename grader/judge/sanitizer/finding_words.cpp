#include "grader/judge/sanitizer/finding_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "grader/common/text.h"
#include "grader/common/utf8.h"
#include "grader/judge/run/ending.h"
#include "grader/judge/sanitizer/array_names.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

std::string index_text(const std::uint32_t (&index)[3]) {
    return fmt::format("({},{},{})", index[0], index[1], index[2]);
}

std::string name_thread(const FindingSide& side) {
    return fmt::format("thread {} of block {}", index_text(side.thread), index_text(side.block));
}

std::string clean_name(const char* name, std::size_t capacity) {
    return to_printable(std::string(name, strnlen(name, capacity)));
}

/// The elements of a memory object.
struct Elements {
    std::uint64_t bytes = 1;
    std::string object;  // the object's name: "in", "the shared variable tile"
    bool is_scratch = false;
};

/// Return whether `other_line` is the line that allocated the memory.
bool allocated_at(const RawFinding& f) {
    const auto kind = static_cast<FindingKind>(f.kind);
    return f.other_line > 0 && (kind == FindingKind::out_of_bounds || kind == FindingKind::uninitialised);
}

Elements elements_of(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const std::string name = clean_name(f.object, sizeof f.object);
    switch (static_cast<FindingSpace>(f.space)) {
        case FindingSpace::buffer:
            if (f.buffer >= buffers.size())
                return {std::max(1u, f.width), name.empty() ? "scratch" : name, name.empty() || name == "scratch"};
            return {element_bytes(buffers[f.buffer].type), buffers[f.buffer].name};
        case FindingSpace::allocation:
            return {std::max(1u, f.width),
                    fmt::format("the {} from {}{}", format_bytes(static_cast<double>(f.bytes)), name,
                                allocated_at(f) ? fmt::format(" of line {}", f.other_line) : "")};
        case FindingSpace::variable:
            return {std::max(1u, f.width), "the device variable " + name};
        case FindingSpace::shared:
            return {std::max(1u, f.width), "the shared variable " + name};
        case FindingSpace::dynamic_shared:
            return {std::max(1u, f.width), "the dynamic shared memory"};
        case FindingSpace::declared:
        case FindingSpace::none:
            break;
    }
    return {std::max(1u, f.width), "memory"};
}

/// The elements that one access touches.
struct Touched {
    std::int64_t first, last;
    std::string object;
    bool is_one() const { return last <= first; }
};

Touched touched_by(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const Elements elements = elements_of(buffers, f);
    const auto unit = static_cast<std::int64_t>(elements.bytes);
    const auto element_of = [&](std::int64_t offset) { return offset / unit - (offset % unit < 0 ? 1 : 0); };
    const std::int64_t width = std::max<std::int64_t>(f.width, 1);
    return {element_of(f.offset), element_of(f.offset + width - 1), elements.object};
}

std::string element_at(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const Touched touched = touched_by(buffers, f);
    if (touched.is_one()) return fmt::format("element {} of {}", touched.first, touched.object);
    return fmt::format("elements {} to {} of {}", touched.first, touched.last, touched.object);
}

std::string verb_of(const FindingSide& side) { return side.atomic ? "updates" : side.writes ? "writes" : "reads"; }

std::string object_of(const RawFinding& f) { return clean_name(f.object, sizeof f.object); }

std::string detail_of(const RawFinding& f) { return clean_name(f.detail, sizeof f.detail); }

/// Return where `word` occurs in `text` from `at` on, not as a part of a longer word; npos if it does not, or is empty.
std::size_t find_word(const std::string& text, const std::string& word, std::size_t at = 0) {
    if (word.empty()) return std::string::npos;
    while ((at = text.find(word, at)) != std::string::npos) {
        const std::size_t end = at + word.size();
        if ((at == 0 || !is_word_character(text[at - 1])) && (end == text.size() || !is_word_character(text[end])))
            return at;
        at = end;
    }
    return at;
}

/// Return the text from a kernel's name in its definition up to the next kernel; "" if it is not found.
std::string text_of_kernel(const std::string& text, const std::string& kernel) {
    const std::string name = kernel.substr(0, kernel.find('<'));
    for (std::size_t at = text.find("__global__"); !name.empty() && at != std::string::npos;) {
        const std::size_t next = text.find("__global__", at + 1);
        const std::string part = text.substr(at, next == std::string::npos ? next : next - at);
        if (find_word(part.substr(0, part.find('{')), name) != std::string::npos) return part;
        at = next;
    }
    return "";
}

std::string launch_of(const RawFinding& f) {
    return f.launch_line > 0 ? fmt::format("line {}", f.launch_line) : "the launch";
}

/// Return "256 x 1" for the first two extents of a block.
std::string block_words(const std::uint32_t (&block)[3]) { return fmt::format("{} x {}", block[0], block[1]); }

/// Return a hint about a launch of blocks with one row of threads, if the kernel uses a thread's row; else "".
std::string flat_block_hint(const RawFinding& f, const std::string& text) {
    if (f.launch_block[0] <= 1 || f.launch_block[1] != 1) return "";
    const std::string kernel = text_of_kernel(text, kernel_of(f));
    if (find_word(kernel, "threadIdx.y") == std::string::npos) return "";
    return fmt::format(
        "This kernel uses threadIdx.y, but {} launches blocks of {} threads, in which it is always 0. "
        "Should the block have two dimensions, dim3 block(columns, rows)?",
        launch_of(f), block_words(f.launch_block));
}

/// Return whether a line declares the variable in shared memory.
bool declares_shared(const std::string& text, const std::string& name) {
    for (std::size_t at = text.find("__shared__"); at != std::string::npos; at = text.find("__shared__", at + 1))
        if (find_word(text.substr(at, text.find(';', at) - at), name) != std::string::npos) return true;
    return false;
}

/// Return a hint about an index into shared memory that is the thread's number in the grid; "" for other indices.
std::string grid_index_hint(const RawFinding& f, std::int64_t index) {
    // Unsigned: numbers from the submission's process may be any.
    const std::uint64_t of_thread = std::uint64_t{f.now.block[0]} * f.launch_block[0] + f.now.thread[0];
    if (f.now.block[0] == 0 || static_cast<std::uint64_t>(index) != of_thread) return "";
    return fmt::format(
        "{} is blockIdx.x * blockDim.x + threadIdx.x, this thread's number in the grid. Shared memory "
        "belongs to one block: index it with threadIdx.x.",
        index);
}

/// Return whether the thread's number lies outside its block, because the kernel has overwritten it.
bool is_overwritten(const RawFinding& f) {
    bool outside = false;
    for (int i = 0; i < 3; ++i) outside = outside || (f.launch_block[i] > 0 && f.now.thread[i] >= f.launch_block[i]);
    return outside;
}

Description overwritten_itself(const RawFinding& f) {
    return {cause::out_of_bounds,
            fmt::format("Kernel {} has overwritten its own local variables: a thread's number is {}, but a block has "
                        "only {} x {} threads.",
                        kernel_of(f), index_text(f.now.thread), block_words(f.launch_block), f.launch_block[2]),
            "A store beyond the end of a local array overwrites the thread's other variables, so this access may be "
            "right. Compare each index of a local array with its declared size, dimension by dimension; an array that "
            "is passed to a function has no size there."};
}

/// Return a hint about an index beyond an array of `count` elements.
std::string index_hint(const RawFinding& f, long count) {
    if (f.offset < 0) return "Which index is negative there, and for which thread?";
    const std::uint64_t threads = std::uint64_t{f.launch_block[0]} * f.launch_block[1] * f.launch_block[2];
    if (f.offset == static_cast<std::int64_t>(f.now.thread[0]) && threads > 0)
        return fmt::format(
            "{} is also this thread's number in its block, threadIdx.x: {} has blocks of {} threads, and the array has "
            "{} elements. Are the numbers of blocks and threads swapped there? If not, declare a larger array, or let "
            "only the first {} threads reach this line.",
            f.offset, launch_of(f), threads, count, count);
    if (f.offset == count)
        return fmt::format(
            "{} is the first index past the end: does a loop or a condition use <= where < is meant, or does it "
            "compare another value than this index? Or is the array too small?",
            count);
    return "Compare the index with the array's declaration, dimension by dimension. If it depends on the thread: does "
           "the condition in front of it exclude the threads whose index is too large?";
}

/// Return the hint about an index beyond an array of two dimensions or one row of it. The type is "float [12][36]" for
/// the array and "float [36]" for the row, for which the number of rows is not known.
std::string hint_for_dimensions(const RawFinding& f, const std::string& type, const std::string& name, long count) {
    const std::string hint = index_hint(f, count);
    if (f.offset < 0) return hint;
    const std::size_t next = type.find("][");
    if (next == std::string::npos)
        return name.ends_with(']') ? hint + " Or are rows and columns exchanged, here or in the declaration?" : hint;
    const long other_count = std::atol(type.c_str() + next + 2);
    if (f.offset >= other_count) return hint;
    return fmt::format(
        "The next dimension of this array has indices 0 to {}: are the two indices exchanged, or the two sizes in the "
        "declaration? {}",
        other_count - 1, hint);
}

/// Describe an index beyond an array. The type is in GCC's format: 'int [8][32]'.
Description index_beyond(const RawFinding& f, const SourceLine& source) {
    std::string type = detail_of(f);
    std::erase(type, '\'');
    const std::string name =
        to_printable(shorten(indexed_array({source.line, f.width, type}, source.text), max_quoted_bytes));
    const std::size_t bracket = type.find('[');
    const long count = bracket == std::string::npos ? 0 : std::atol(type.c_str() + bracket + 1);
    const std::string array = name.substr(0, name.find('['));
    const std::string flat = flat_block_hint(f, source.text);
    const std::string in_grid = declares_shared(source.text, array) ? grid_index_hint(f, f.offset) : "";
    return {cause::out_of_bounds,
            fmt::format("Kernel {} uses index {} of {}, declared as {}, with indices 0 to {}: {}.", kernel_of(f),
                        f.offset, name.empty() ? "an array" : name, type, count - 1, name_thread(f.now)),
            !in_grid.empty() ? in_grid
            : !flat.empty()  ? flat
                             : hint_for_dimensions(f, type, name, count)};
}

/// Describe an access far from all memory. `f.offset` is the address.
Description far_from_all(const RawFinding& f) {
    constexpr std::int64_t page_bytes = 4096;
    const auto address = static_cast<std::uint64_t>(f.offset);
    const bool is_null = f.offset >= 0 && f.offset < page_bytes, never_set = address >> 48 == 0xFEFE;
    return {cause::out_of_bounds,
            fmt::format("Kernel {} {} {}: {}.", kernel_of(f), verb_of(f.now),
                        is_null     ? "through a null pointer"
                        : never_set ? "through a pointer that was never set"
                                    : "an address far from all memory",
                        name_thread(f.now)),
            is_null ? "Was memory allocated for it, and more than 0 bytes? (scratch is null if the stage's "
                      "_scratch_bytes() returns 0.)"
                    : "Is the pointer set? Is the index negative, or far too large? (A 32-bit product may "
                      "overflow, and values past the end of an input are garbage.) If a local array is passed to a "
                      "function: does a store beyond its end overwrite this pointer?"};
}

/// Return whether a line has an index such as [y * columns + x], without built-in variables such as threadIdx.x, and
/// with a row length that is not a number.
bool has_row_index(const std::string& line) {
    for (std::size_t open = line.find('['); open != std::string::npos; open = line.find('[', open + 1)) {
        const std::string index = line.substr(open, line.find(']', open) - open);
        const std::size_t times = index.find(" * ");
        if (times != std::string::npos && index.find(" + ", times) != std::string::npos &&
            index.find("Idx.") == std::string::npos && std::isdigit(static_cast<unsigned char>(index[times + 3])) == 0)
            return true;
    }
    return false;
}

bool is_in_shared(const RawFinding& f) {
    const auto space = static_cast<FindingSpace>(f.space);
    return space == FindingSpace::shared || space == FindingSpace::dynamic_shared;
}

/// Return whether the line compares something with a difference, as in `i < n - k`.
bool subtracts_in_guard(const std::string& line) {
    const std::size_t less = line.find(" < "), minus = line.find(" - ", less);
    return less != std::string::npos && minus != std::string::npos && line.find_first_of(";)&|", less) > minus;
}

std::string size_hint(const RawFinding& f, const Elements& elements, const std::string& line) {
    constexpr std::int64_t far = 64, far_bytes = 64 << 20;
    if (f.offset < 0) return "Which index is negative there, and for which thread?";
    if (f.offset > far_bytes && f.offset / far > static_cast<std::int64_t>(f.bytes))
        return "An index so far beyond the end was probably read from memory, or it has overflowed: is it a value from "
               "a place that holds none, such as the padding of a row or a place past the end of an input?";
    if (elements.is_scratch)
        return fmt::format(
            "Its size is the {} that the stage's _scratch_bytes() returns: is that enough for these sizes, "
            "and is the index right with blocks of {} threads, as {} has them?",
            format_plural(f.bytes, "byte"), std::uint64_t{f.launch_block[0]} * f.launch_block[1] * f.launch_block[2],
            launch_of(f));
    if (is_in_shared(f))
        if (const std::string in_grid = grid_index_hint(f, f.offset / std::max(1u, f.width)); !in_grid.empty())
            return in_grid;
    if (static_cast<FindingSpace>(f.space) == FindingSpace::dynamic_shared)
        return "The launch's third argument is its size in bytes: <<<blocks, threads, bytes>>>.";
    if (static_cast<FindingSpace>(f.space) == FindingSpace::allocation && !allocated_at(f))
        return "Is the access guarded, e.g. by if (i < n)? This call did not allocate the memory: is it allocated "
               "once, "
               "for the first call's n, and kept for calls with a larger n?";
    if (static_cast<FindingSpace>(f.space) == FindingSpace::allocation)
        return std::string(
                   "Is the access guarded, e.g. by if (i < n)? Is the requested size in bytes, n * sizeof(…)?") +
               (line.find("pitch") == std::string::npos
                    ? ""
                    : " The line uses a pitch: does the size include the padding of the rows, height * pitch "
                      "elements?");
    if (f.width > elements.bytes && static_cast<FindingSpace>(f.space) == FindingSpace::buffer)
        return fmt::format(
            "One access of this line takes {0} elements, so an index counts groups of {0}: is every index, end and row "
            "length that goes with this pointer divided by {0}? And does the part that the block or thread takes lie "
            "in the array: where does it begin, and how long is it?",
            f.width / elements.bytes);
    if (has_row_index(line))
        return "In an index such as y * columns + x, columns must be the row length of this array, and x must be less "
               "than columns. Did you swap x and y, or use the row length of another array? If the index is right, "
               "guard the access, e.g. if (x < columns && y < rows).";
    const std::string guard = fmt::format(
        "T{} must not reach this line with this index. Guard the access by the index that the line uses, with < and "
        "not <=, e.g. if (i < n).",
        name_thread(f.now).substr(1));
    if (f.offset == static_cast<std::int64_t>(f.bytes)) return guard + " This element is the first past the end.";
    if (subtracts_in_guard(line))
        return guard +
               " In a guard such as i < n - k, the difference of unsigned numbers is huge if k is larger than n.";
    return guard + " If it is guarded: is this the index that you mean, in the array that you mean?";
}

/// Describe an access through a pointer that the launch passes and that already points beyond the object.
Description passed_outside(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const Elements elements = elements_of(buffers, f);
    const auto count = f.bytes / elements.bytes;
    const std::int64_t passed = f.passed_offset / static_cast<std::int64_t>(elements.bytes);
    return {cause::out_of_bounds,
            fmt::format("The pointer that {} passes to kernel {} points to element {} of {}, which has only {}.",
                        launch_of(f), kernel_of(f), passed, elements.object, format_plural(count, "element")),
            "In the expression pointer + k, k counts elements, not bytes: is a sizeof too many there? If not, compare "
            "k with the number of elements. The line in the kernel may be right."};
}

Description out_of_bounds(const std::vector<BufferSpec>& buffers, const RawFinding& f, const SourceLine& source) {
    if (static_cast<FindingSpace>(f.space) == FindingSpace::declared) return index_beyond(f, source);
    if (is_overwritten(f)) return overwritten_itself(f);
    if (static_cast<FindingSpace>(f.space) == FindingSpace::none) return far_from_all(f);
    if (f.passed_outside != 0) return passed_outside(buffers, f);
    const Elements elements = elements_of(buffers, f);
    return {cause::out_of_bounds,
            fmt::format("Kernel {} {} {}, which has only {}: {}.", kernel_of(f), verb_of(f.now), element_at(buffers, f),
                        format_plural(f.bytes / elements.bytes, "element"), name_thread(f.now)),
            size_hint(f, elements, source.line)};
}

/// Return whether the access would be aligned if the variable were.
bool is_variable_misaligned(const RawFinding& f) {
    return static_cast<FindingSpace>(f.space) == FindingSpace::shared && f.offset % f.width == 0;
}

Description misaligned_variable(const RawFinding& f, const std::string& of) {
    return {cause::misaligned,
            fmt::format("Kernel {} {} {} bytes at byte {} of {}, whose type does not put it at a multiple of {}: {}.",
                        kernel_of(f), verb_of(f.now), f.width, f.offset, of, f.width, name_thread(f.now)),
            fmt::format("On a GPU this is an error: {0} begins where the shared variables before it end. Declare it "
                        "with __align__({1}), or read its elements one by one.",
                        of, f.width)};
}

std::string misaligned_hint(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const std::uint64_t element = elements_of(buffers, f).bytes;
    if (!f.now.atomic && (f.width == 2 * element || f.width == 4 * element))
        return fmt::format(
            "On a GPU this is an error. A vector of {0} begins where the index is a multiple of {0}; so "
            "must the part of the array that a block or a thread takes.",
            f.width == 2 * element ? "two" : "four");
    return fmt::format(
        "On a GPU this is an error: {0} bytes are read and written at multiples of {0}. Was a pointer to smaller "
        "elements cast, or does the data before it have an odd size? If a local array is passed to a function: does a "
        "store beyond its end overwrite this pointer?",
        f.width);
}

/// Return the barrier that is missing between two accesses of one block. If one warp made both, __syncwarp() may do.
const char* barrier_between(const RawFinding& f) {
    const bool is_one_warp = f.before.thread[0] / 32 == f.now.thread[0] / 32 &&
                             std::equal(f.before.thread + 1, f.before.thread + 3, f.now.thread + 1);
    return is_one_warp ? "__syncthreads(), or __syncwarp() if threads exchange data only within their warp"
                       : "__syncthreads()";
}

Description race(const std::vector<BufferSpec>& buffers, const RawFinding& f, bool with_atomic) {
    const std::string between = same_block(f) ? "without a barrier in between" : "and blocks run in any order";
    const bool both_write = !with_atomic && f.before.writes && f.now.writes;
    const std::string both_meant =
        both_write ? "Should both threads write this element? If not, one of them has a wrong index or condition. "
        : !with_atomic && !same_block(f)
            ? "Should a block read what another one writes? If not, the index is wrong, or the condition that tells "
              "which elements belong to a block, or two parts of the array overlap: where does the first part end? "
            : "";
    const std::string hint =
        f.before.atomic && f.now.atomic && f.other_width
            ? "Both are atomic, but one of 4 and one of 8 bytes: a GPU does not order them. Use one type for all "
              "atomics on these bytes."
        : f.before.atomic && f.now.atomic
            ? "Both are atomic, but the scope of one is its block. Use an atomic for the whole GPU: the "
              "function without _block, or cuda::thread_scope_device."
        : with_atomic && !same_block(f)
            ? "Use an atomic here as well (atomicExch releases a lock), or write the word before the launch "
              "(cudaMemset) or in an earlier kernel. If the last block resets a counter, each block needs a "
              "__threadfence() before it counts itself."
        : with_atomic
            ? "An atomic protects a word only from other atomics: use one here as well, or put a barrier between."
        : same_block(f) && is_in_shared(f)
            ? fmt::format(
                  "A barrier belongs between the two lines: {}. If many threads update one element, use an atomic.",
                  barrier_between(f))
        : same_block(f)
            ? fmt::format(
                  "If only this block uses this memory, a barrier belongs between the two lines: {}. If other blocks "
                  "use it too, no barrier helps: write to different memory, or use two launches. If many threads "
                  "update one element, use an atomic.",
                  barrier_between(f))
            : "Let each block write a separate element, use an atomic, or do the second step in another kernel (in a "
              "cooperative launch: after grid.sync()). If a flag or a counter tells a block that data is ready, each "
              "writer needs a __threadfence() between its data and the flag.";
    const std::string message =
        fmt::format("Race on {}: {} {} it and {} {} it, {}.", element_at(buffers, f), name_thread(f.before),
                    verb_of(f.before), name_thread(f.now), verb_of(f.now), between);
    if (!with_atomic && !detail_of(f).empty())
        return {
            cause::race, fmt::format("Two arguments of {} point to the same array. {}", detail_of(f), message),
            "A thread may then read elements that another one has already overwritten. Is a pointer copied where two "
            "pointers should be exchanged, as in a = b in place of std::swap(a, b)? Or is one pointer passed twice?"};
    return {with_atomic ? cause::atomic_race : cause::race, message, both_meant + hint};
}

const char* copy_hint(FindingKind kind, const std::string& function) {
    if (kind == FindingKind::copy_direction && function.starts_with("cudaMemset"))
        return "It fills device memory: pass the pointer that cudaMalloc returned, or one of the contract's pointers, "
               "without &.";
    switch (kind) {
        case FindingKind::copy_of_host_variable:
            return "Pass the name of a variable that is declared outside all functions, as in __constant__ float "
                   "weights[25]: the name alone, without & and without quotes. A parameter of the same name would hide "
                   "it.";
        case FindingKind::copy_by_name:
            return "On a GPU the name is not a pointer to the device's memory: cudaMemcpyToSymbol and "
                   "cudaMemcpyFromSymbol copy, and cudaGetSymbolAddress gives a pointer for everything else.";
        default:
            return "The first pointer is the destination, the second the source: is there memory at both? "
                   "The last argument is the direction.";
    }
}

/// Describe an access to the destination of a copy that the kernel itself has started, or a write to the copy's source.
Description unfinished_in_kernel(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    return {
        cause::unfinished_work,
        fmt::format("Kernel {} {} {}, {} an asynchronous copy may still {}.", kernel_of(f), verb_of(f.now),
                    element_at(buffers, f), f.before.writes ? "to which" : "which", f.before.writes ? "write" : "read"),
        "Let each thread wait for its copies first, and then synchronise all threads: use cg::wait(group), or "
        "__pipeline_wait_prior(0) and then __syncthreads(), or the wait of the barrier or pipeline that you passed to "
        "the copy. A barrier alone does not wait for copies."};
}

/// Describe an access that nothing orders after earlier work of the device.
Description unfinished(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const std::string kernel = kernel_of(f), work = detail_of(f);
    const bool by_host = kernel.empty();
    const bool in_graph = static_cast<FindingKind>(f.kind) == FindingKind::unordered_nodes;
    const std::string accessor = by_host ? "The host" : f.now.program_counter ? "Kernel " + kernel : kernel;
    const std::string earlier = f.before.program_counter
                                    ? fmt::format("kernel {}, launched at line {},", work, f.other_line)
                                    : fmt::format("{} at line {}", work, f.other_line);
    const std::string message = fmt::format("{} {} {}, and {} may not be complete: {}.", accessor, verb_of(f.now),
                                            element_at(buffers, f), earlier,
                                            by_host    ? "the host has not waited for it"
                                            : in_graph ? "no dependency orders the two nodes of the graph"
                                                       : "it is in another stream");
    if (in_graph)
        return {
            cause::unfinished_work, message,
            "Nodes can run at the same time unless one depends on the other: list the earlier node in the later one's "
            "dependencies, or use cudaGraphAddDependencies. While you capture streams, record an event in one stream "
            "(cudaEventRecord), and let the other stream wait for it (cudaStreamWaitEvent)."};
    return {cause::unfinished_work, message,
            by_host ? "Wait before this line: cudaStreamSynchronize(stream), cudaDeviceSynchronize() or an event."
                    : "Streams run at the same time: record an event after the earlier work (cudaEventRecord), and "
                      "let the stream of the later work wait for it (cudaStreamWaitEvent)."};
}

/// Describe plain writes of one value by several threads. The hint is for very many such writes to an output.
Description same_value(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const bool in_output = static_cast<FindingSpace>(f.space) == FindingSpace::buffer && f.buffer < buffers.size();
    return {cause::same_value,
            fmt::format("Several threads write the same value to {}: harmless as long as all values are equal.",
                        element_at(buffers, f)),
            in_output ? "Is the step of the loop the number of threads of the whole grid, gridDim.x * blockDim.x?" : "",
            true};
}

Description beyond_vector(const RawFinding& f) {
    const std::string function = object_of(f);
    const std::uint64_t unit = std::max(1u, f.width);
    return {cause::out_of_bounds,
            function.empty()
                ? fmt::format("Host code {} element {} of a std::vector that has {}.", verb_of(f.now),
                              static_cast<std::uint64_t>(f.offset) / unit, format_plural(f.bytes / unit, "element"))
                : fmt::format("{}: {}. This memory belongs to a std::vector: its size counts, not its capacity.",
                              function, detail_of(f)),
            "Set the vector's size first: std::vector<float> v(n) or v.resize(n). v.reserve(n) does not change it."};
}

/// Return a sentence about an earlier kernel that wrote only a part of the memory, and its launch; "" if there is none.
std::string describe_writer(const RawFinding& f) {
    if (f.written_distance == 0 || f.writer_line <= 0) return "";
    return fmt::format(
        " Kernel {}, which line {} launches with blocks of {} threads, wrote elements 0 to {} and {} to {}, but not "
        "those between them.",
        detail_of(f), f.writer_line, block_words(f.writer_block), f.written - 1, f.written_distance,
        std::uint64_t{f.written_distance} + f.written - 1);
}

Description uninitialised(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const std::string writer = describe_writer(f);
    return {cause::uninitialised,
            fmt::format("Kernel {} reads {}, which has not been written yet: {}.{}", kernel_of(f),
                        element_at(buffers, f), name_thread(f.now), writer),
            is_in_shared(f)
                ? "Shared memory is undefined until a thread of the block writes it. Do not read an element that "
                  "no thread has stored, even if the value is not used: store 0 beyond the edge, or do not read "
                  "there."
            : !writer.empty()
                ? fmt::format("Do the block and the grid of line {} have the shape that the kernel's index expects, x "
                              "first? Are they in the order <<<grid, block>>>? And does this kernel read with the same "
                              "row length with which the other one writes?",
                              f.writer_line)
                : "Memory is undefined until it is written: was all of it loaded or copied (sizes and pitches are "
                  "in bytes)? Set sums and counters to 0 first, in every call."};
}

const char* host_access_hint(const RawFinding& f) {
    return static_cast<FindingSpace>(f.space) == FindingSpace::variable
               ? "On a GPU, host code cannot use a device variable by its name: use "
                 "cudaMemcpyToSymbol or cudaMemcpyFromSymbol."
               : "The host cannot use a device pointer: copy with cudaMemcpy, or let a kernel do it.";
}

}  // namespace

Description describe(const std::vector<BufferSpec>& buffers, const RawFinding& f, const SourceLine& source) {
    switch (static_cast<FindingKind>(f.kind)) {
        case FindingKind::out_of_bounds:
            return out_of_bounds(buffers, f, source);
        case FindingKind::use_after_free:
            return {cause::use_after_free,
                    fmt::format("Kernel {} {} {}, which was freed before: {}.", kernel_of(f), verb_of(f.now),
                                element_at(buffers, f), name_thread(f.now)),
                    "Free memory after the last kernel that uses it."};
        case FindingKind::uninitialised:
            return uninitialised(buffers, f);
        case FindingKind::race:
            return race(buffers, f, false);
        case FindingKind::atomic_race:
            return race(buffers, f, true);
        case FindingKind::divergent_barrier:
            return {
                cause::divergent_barrier,
                fmt::format("Threads of one block wait at two different barriers: {} here, {} at the other.",
                            name_thread(f.now), name_thread(f.before)),
                "Move __syncthreads() out of the if or the loop: all threads of the block must reach the same one."};
        case FindingKind::return_before_barrier:
            return {
                cause::return_before_barrier,
                fmt::format("{} of {} threads of block {} never reach this barrier.", f.threads_missing, f.threads,
                            index_text(f.now.block)),
                "Threads without work must not return before it, and it must not be in an if that some do not enter."};
        case FindingKind::misaligned:
            if (is_variable_misaligned(f)) return misaligned_variable(f, elements_of(buffers, f).object);
            return {cause::misaligned,
                    fmt::format("Kernel {} {} {} bytes at byte {} of {}, which is not a multiple of {}: {}.",
                                kernel_of(f), verb_of(f.now), f.width, f.offset, elements_of(buffers, f).object,
                                f.width, name_thread(f.now)),
                    misaligned_hint(buffers, f)};
        case FindingKind::host_memory:
            return {
                cause::host_memory,
                fmt::format("Kernel {} {} host memory: {}.", kernel_of(f), verb_of(f.now), name_thread(f.now)),
                "Kernels see only device memory: did cudaMalloc return this pointer? If so, is the index far beyond "
                "the array's end, where host memory lies?"};
        case FindingKind::beside_atomic:
            return {cause::beside_atomic,
                    fmt::format("A plain read of {}, which other threads update with atomics, may return an old value.",
                                element_at(buffers, f)),
                    "", true};
        case FindingKind::unfinished_async:
            return unfinished_in_kernel(buffers, f);
        case FindingKind::unfinished:
        case FindingKind::unordered_nodes:
            return unfinished(buffers, f);
        case FindingKind::unjoined:
            return {cause::unfinished_work,
                    fmt::format("Nothing waits for {}: it runs in another stream, and may not be complete when the "
                                "function returns.",
                                detail_of(f)),
                    "The caller and the next call use the default stream, which does not wait for a non-blocking "
                    "stream. Wait at the end of the function: cudaStreamSynchronize(stream). Or record an event after "
                    "this work (cudaEventRecord), and let the default stream wait for it (cudaStreamWaitEvent)."};
        case FindingKind::same_value:
            return same_value(buffers, f);
        case FindingKind::beyond_vector:
            return beyond_vector(f);
        case FindingKind::leak:
            return {
                cause::leak,
                fmt::format("{} that are allocated here are still allocated when the call ends.",
                            format_bytes(static_cast<double>(f.bytes))),
                "Each cudaMalloc needs a cudaFree, and each cudaMallocHost a cudaFreeHost, on every path out of the "
                "function."};
        case FindingKind::not_destroyed:
            return {cause::not_destroyed,
                    fmt::format("Each call creates another one here with {}, and no call destroys it with {}.",
                                object_of(f), detail_of(f)),
                    fmt::format("Each {} needs a {} on every path out of the function. Or create it in the first "
                                "call only and keep it in a static variable.",
                                object_of(f), detail_of(f))};
        case FindingKind::copy_of_freed:
            return {cause::use_after_free, fmt::format("{}: {}.", object_of(f), detail_of(f)),
                    "Is the memory freed before this copy? Free it after the last copy from or to it."};
        case FindingKind::copy_direction:
        case FindingKind::copy_of_host_variable:
        case FindingKind::copy_by_name:
            return {cause::copy_direction, fmt::format("{}: {}.", object_of(f), detail_of(f)),
                    copy_hint(static_cast<FindingKind>(f.kind), object_of(f))};
        case FindingKind::copy_beyond_variable:
            return {
                cause::copy_size, fmt::format("{}: {}.", object_of(f), detail_of(f)),
                "If this should be an array, is the & a mistake? With a pointer p, p is the address of its array, but "
                "&p that of the variable p itself. With a std::vector v, the array is v.data(). Otherwise, compare the "
                "size in bytes with the variable's type."};
        case FindingKind::copy_at_direction:
            return {cause::copy_size, fmt::format("{}: {}.", object_of(f), detail_of(f)),
                    "The fourth argument is the offset in bytes, 0 for the whole symbol; the direction comes fifth. "
                    "Without both, the copy begins at offset 0, in the direction that the function's name says."};
        case FindingKind::copy_beyond_heap:
            return {cause::copy_size, fmt::format("{}: {}.", object_of(f), detail_of(f)),
                    "Compare the array on the host with the one on the device: do both have the same number of "
                    "elements of the same type (a float has 4 bytes, a double 8)? Is the size of the copy in bytes?"};
        case FindingKind::copy_size:
            return {cause::copy_size, fmt::format("{}: {}.", object_of(f), detail_of(f)),
                    "Sizes are in bytes: compare the number of elements and their sizeof with what was allocated."};
        case FindingKind::device_memory:
            return {cause::device_memory,
                    fmt::format("Host code {} {}: that is device memory.", verb_of(f.now), element_at(buffers, f)),
                    host_access_hint(f)};
        case FindingKind::failed_launch:
            return {cause::failed_launch,
                    fmt::format("{}{} failed, so the kernel never ran, and the program did not check for this error.",
                                kernel_of(f), detail_of(f)),
                    fmt::format("{} Call cudaGetLastError() after each launch.",
                                hint_for_launch(static_cast<LaunchLimit>(f.limit)))};
        case FindingKind::invalid_free:
            return {cause::invalid_free, fmt::format("{} does not take this pointer: {}.", object_of(f), detail_of(f)),
                    "Free each allocation once, with the pointer that it returned. The next call that asks for errors "
                    "returns this one."};
        case FindingKind::lane_mask:
            return {cause::lane_mask,
                    fmt::format("In kernel {}, {}: {}.", kernel_of(f), detail_of(f), name_thread(f.now)),
                    "The mask must name each lane that executes this call, the calling one included, and no other: "
                    "0xffffffff where the whole warp executes it."};
        case FindingKind::unset_constant:
            return {cause::unset_constant,
                    fmt::format("Kernel {} reads {}, to which no copy has been made: its value is 0.", kernel_of(f),
                                element_at(buffers, f)),
                    "Does cudaMemcpyToSymbol come before the launch, and does it copy all bytes?", true};
        case FindingKind::kept_value:
            return {cause::kept_value,
                    fmt::format("Kernel {} reads {}, which an earlier call has changed: {}.", kernel_of(f),
                                element_at(buffers, f), detail_of(f)),
                    fmt::format("Reset it for the next call: with a store by the thread that uses it last, or with "
                                "cudaMemcpyToSymbol before the launch."),
                    true};
        case FindingKind::input_written:
            return {cause::input_written,
                    f.line > 0 ? fmt::format("{}: {}.", object_of(f), detail_of(f))
                               : fmt::format("Kernel {} writes {}, an input: {}.", kernel_of(f), element_at(buffers, f),
                                             name_thread(f.now)),
                    "Inputs are const, even if you restore them later: copy data that must change to your own memory."};
        case FindingKind::constant_written:
            return {cause::constant_written,
                    fmt::format("Kernel {} writes {}, which is constant memory: {}.", kernel_of(f),
                                element_at(buffers, f), name_thread(f.now)),
                    "Kernels can only read __constant__ memory: fill it with cudaMemcpyToSymbol before the launch. For "
                    "data that kernels write, use a __device__ variable."};
        case FindingKind::absent_lane:
            return {
                cause::absent_lane,
                fmt::format("{}: harmless only if the value is not used, because it is undefined.", detail_of(f)),
                "If the value is used, let all lanes of the warp call this function, outside an if or a loop that some "
                "of them do not enter. Lanes without a value pass one that changes nothing, such as 0.",
                true};
    }
    return {};  // only a forged page has such a kind
}

bool same_block(const RawFinding& f) { return std::equal(f.now.block, f.now.block + 3, f.before.block); }

std::string kernel_of(const RawFinding& f) { return clean_name(f.kernel, sizeof f.kernel); }

std::string hint_for_race_of_all_threads(const RawFinding& f, const std::string& text) {
    const auto uses = [&](const char* name) { return text.find(name) != std::string::npos; };
    if (!uses("__global__")) return "";
    if (same_block(f) && !uses("threadIdx") && !uses("thread_rank"))
        return "No line uses threadIdx, so all threads of a block do the same work. Is it work for one thread, "
               "<<<1, 1>>>, or should each thread take a part of it?";
    if (!same_block(f) && !uses("blockIdx") && !uses("_rank") && !uses("group_index"))
        return "No line uses blockIdx, so all blocks do the same work. Is it work for one block, or should each block "
               "take a part of it?";
    return "";
}

std::string hint_for_race_within_line(const RawFinding& f) {
    constexpr auto atomic = "an atomic (atomicAdd for a sum, atomicMax for a maximum)";
    if (f.now.writes && f.before.writes)
        return fmt::format(
            "Many threads write one element. If each has its own, the index is wrong: on which numbers of thread, "
            "block and loop does it depend? If not, use {}, or let one thread do it.",
            atomic);
    const char* const barrier = barrier_between(f);
    const std::string many_threads = fmt::format("If many threads update one element, use {}.", atomic),
                      turns =
                          "between a read and a write of another thread, for example between two iterations of a loop";
    if (!same_block(f))
        return "If this line adds to the element, as a += b does, blocks that do so at the same time lose additions: "
               "use an atomic (atomicAdd for a sum, atomicMax for a maximum). If each block has its own element, the "
               "index is wrong.";
    if (is_in_shared(f))
        return fmt::format(
            "A barrier belongs {}: {}. If a barrier is there, both threads run this line in the same step: does the "
            "condition before it let too many threads run it? {}",
            turns, barrier, many_threads);
    return fmt::format("{} If each thread has its own, put a barrier {}: {}.", many_threads, turns, barrier);
}

void count_same_values(Finding& finding) {
    constexpr std::uint64_t repeated_work = 1000;
    if (finding.count < repeated_work)
        finding.hint = "";
    else if (!finding.hint.empty())
        finding.message = fmt::format(
            "{} times, a thread writes a value that another thread has already written. The result is right, "
            "but the work is repeated.",
            format_count(finding.count));
}

Finding returned_and_ended(const Finding& returned) {
    Finding note = returned;
    note.note = true;
    note.message += " They have ended, so the others do not wait for them, and the outputs are right.";
    note.hint =
        "CUDA allows __syncthreads() in an if or a loop only where all threads of the block take the same path. Move "
        "it out of the if, or let threads return after it.";
    return note;
}

}  // namespace warplab
