#include "grader/judge/sanitizer/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "grader/common/text.h"
#include "grader/common/utf8.h"
#include "grader/judge/check/diagnose.h"
#include "grader/judge/compile/diagnostics.h"
#include "grader/judge/run/source_lines.h"

namespace warplab {
namespace {

constexpr std::size_t most_quoted_bytes = 200;  // of a source line

SourceLines look_up(const StageRun& run, const std::vector<std::uint64_t>& counters) {
    SourceLines lines;
    for (const auto& [counter, place] : find_source_lines(run.runner, run.policy, counters))
        lines[counter] = std::atoi(place.c_str() + place.rfind(':') + 1);
    return lines;
}

std::string index_text(const std::uint32_t (&index)[3]) {
    return fmt::format("({},{},{})", index[0], index[1], index[2]);
}

std::string who(const FindingSide& side) {
    return fmt::format("thread {} of block {}", index_text(side.thread), index_text(side.block));
}

bool same_block(const RawFinding& f) { return std::equal(f.now.block, f.now.block + 3, f.before.block); }

std::string clean_name(const char* name, std::size_t capacity) {
    return to_printable(std::string(name, strnlen(name, capacity)));
}

/// The elements of a memory object: their size, and the object's name.
struct Elements {
    std::uint64_t bytes = 1;
    std::string of;  // "in", "the shared variable tile"
};

Elements elements_of(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const std::string name = clean_name(f.object, sizeof f.object);
    switch (static_cast<FindingSpace>(f.space)) {
        case FindingSpace::buffer:
            if (f.buffer >= buffers.size()) return {std::max(1u, f.width), name.empty() ? "scratch" : name};
            return {element_bytes(buffers[f.buffer].type), buffers[f.buffer].name};
        case FindingSpace::allocation:
            return {std::max(1u, f.width),
                    fmt::format("the {} from {}", format_bytes(static_cast<double>(f.bytes)), name)};
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

std::string element_at(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const Elements elements = elements_of(buffers, f);
    const auto unit = static_cast<std::int64_t>(elements.bytes);
    const auto element_of = [&](std::int64_t offset) { return offset / unit - (offset % unit < 0 ? 1 : 0); };
    const std::int64_t index = element_of(f.offset);
    const std::int64_t last = element_of(f.offset + std::max<std::int64_t>(f.width, 1) - 1);
    if (last > index) return fmt::format("elements {} to {} of {}", index, last, elements.of);
    return fmt::format("element {} of {}", index, elements.of);
}

std::string verb_of(const FindingSide& side) { return side.atomic ? "updates" : side.writes ? "writes" : "reads"; }

std::string kernel_of(const RawFinding& f) { return clean_name(f.kernel, sizeof f.kernel); }

std::string object_of(const RawFinding& f) { return clean_name(f.object, sizeof f.object); }

std::string detail_of(const RawFinding& f) { return clean_name(f.detail, sizeof f.detail); }

/// Return the beginning of the "[…]" that ends before `end`; npos if it has no beginning.
std::size_t bracket_before(const std::string& text, std::size_t end) {
    int depth = 0;
    for (std::size_t at = end; at-- > 0;) {
        depth += (text[at] == ']') - (text[at] == '[');
        if (depth == 0) return text[at] == '[' ? at : std::string::npos;
    }
    return std::string::npos;
}

/// Return the array in a line whose index ends with the bracket at `column`: "tile[t / 32]". Return an empty string if
/// this is not clear, as in a macro.
std::string array_before(const std::string& text, std::uint32_t column) {
    if (column == 0 || column > text.size() || text[column - 1] != ']') return "";
    const std::size_t end = bracket_before(text, column);
    if (end == std::string::npos) return "";
    std::size_t begin = end;
    while (begin > 0) {
        const char before = text[begin - 1];
        if (before == ']') {
            begin = bracket_before(text, begin);
            if (begin == std::string::npos) return "";
        } else if (std::isalnum(static_cast<unsigned char>(before)) || before == '_' || before == '.') {
            --begin;
        } else if (begin > 1 && text.compare(begin - 2, 2, "->") == 0) {
            begin -= 2;
        } else {
            break;
        }
    }
    return to_printable(shorten(text.substr(begin, end - begin), most_quoted_bytes));
}

/// The words of a finding.
struct Description {
    std::string cause, message, hint;
    bool is_note = false;
};

/// Describe an index beyond an array. `line` is a line of the student's file. The type is in GCC's format:
/// 'int [8][32]'.
Description index_beyond(const RawFinding& f, const std::string& line) {
    std::string type = detail_of(f);
    std::erase(type, '\'');
    const std::string name = array_before(line, f.width);
    const std::size_t bracket = type.find('[');
    const long count = bracket == std::string::npos ? 0 : std::atol(type.c_str() + bracket + 1);
    return {"out_of_bounds",
            fmt::format("Kernel {} uses index {} of {}, declared as {}, with indices 0 to {}: {}.", kernel_of(f),
                        f.offset, name.empty() ? "an array" : name, type, count - 1, who(f.now)),
            "Compare the index with the array's declaration, dimension by dimension."};
}

/// Describe an access far from all memory. `f.offset` is the address.
Description far_from_all(const RawFinding& f) {
    constexpr std::int64_t page_bytes = 4096;
    const auto address = static_cast<std::uint64_t>(f.offset);
    const bool null = f.offset >= 0 && f.offset < page_bytes, never_set = address >> 48 == 0xFEFE;
    return {"out_of_bounds",
            fmt::format("Kernel {} {} {}: {}.", kernel_of(f), verb_of(f.now),
                        null        ? "through a null pointer"
                        : never_set ? "through a pointer that was never set"
                                    : "an address far from all memory",
                        who(f.now)),
            null ? "Was memory allocated for it? (scratch is null where a stage's _scratch_bytes() asks for 0.)"
                 : "Is the pointer set, and the index not by far too large or negative? (A 32-bit product may "
                   "overflow, and what is read past the end of an input is rubbish.)"};
}

std::string size_hint(const RawFinding& f, const Elements& elements) {
    if (f.offset < 0) return "Which index is negative there, and for which thread?";
    if (elements.of == "scratch")
        return fmt::format("It has the {} that the stage's _scratch_bytes() asks for: is that enough for these sizes?",
                           format_plural(f.bytes, "byte"));
    if (static_cast<FindingSpace>(f.space) == FindingSpace::dynamic_shared)
        return "The launch's third argument says how much there is, in bytes: <<<blocks, threads, bytes>>>.";
    return "Guard the access, e.g. if (i < n), or check the size that was asked for.";
}

Description out_of_bounds(const std::vector<BufferSpec>& buffers, const RawFinding& f, const std::string& line) {
    if (static_cast<FindingSpace>(f.space) == FindingSpace::declared) return index_beyond(f, line);
    if (static_cast<FindingSpace>(f.space) == FindingSpace::none) return far_from_all(f);
    const Elements elements = elements_of(buffers, f);
    return {"out_of_bounds",
            fmt::format("Kernel {} {} {}, which has only {}: {}.", kernel_of(f), verb_of(f.now), element_at(buffers, f),
                        format_plural(f.bytes / elements.bytes, "element"), who(f.now)),
            size_hint(f, elements)};
}

/// Return whether the access would be aligned if the variable were.
bool is_by_its_variable(const RawFinding& f) {
    return static_cast<FindingSpace>(f.space) == FindingSpace::shared && f.offset % f.width == 0;
}

Description misaligned_variable(const RawFinding& f, const std::string& of) {
    return {"misaligned",
            fmt::format("Kernel {} {} {} bytes at byte {} of {}, whose type does not put it at a multiple of {}: {}.",
                        kernel_of(f), verb_of(f.now), f.width, f.offset, of, f.width, who(f.now)),
            fmt::format("On a GPU this is an error: {0} begins where the shared variables before it end. Declare it "
                        "with __align__({1}), or read its elements one by one.",
                        of, f.width)};
}

std::string misaligned_hint(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const std::uint64_t element = elements_of(buffers, f).bytes;
    if (f.width == 2 * element || f.width == 4 * element)
        return fmt::format("On a GPU this is an error. A vector of {0} begins where the index is a multiple of {0}.",
                           f.width == 2 * element ? "two" : "four");
    return fmt::format(
        "On a GPU this is an error: {0} bytes are read and written at multiples of {0}. Was a pointer to smaller "
        "elements cast, or has what lies before another size?",
        f.width);
}

bool is_in_shared(const RawFinding& f) {
    const auto space = static_cast<FindingSpace>(f.space);
    return space == FindingSpace::shared || space == FindingSpace::dynamic_shared;
}

/// A hint for a line whose threads race with each other.
std::string race_with_itself(const RawFinding& f) {
    constexpr auto atomic = "an atomic (atomicAdd for a sum, atomicMax for a maximum)";
    if (f.now.writes && f.before.writes)
        return fmt::format("Many threads write one place: use {}, or let one thread do it.", atomic);
    constexpr auto barrier = "__syncthreads(), or __syncwarp() in code for one warp alone";
    const std::string many = fmt::format("If many threads update one place, that takes {}.", atomic),
                      turns = "between a read and a write of another thread, as between two turns of a loop";
    if (is_in_shared(f)) return fmt::format("A barrier belongs {}: {}. {}", turns, barrier, many);
    return fmt::format("{} If each has its own, a barrier belongs {}: {}.", many, turns, barrier);
}

Description race(const std::vector<BufferSpec>& buffers, const RawFinding& f, bool with_atomic) {
    const std::string between = same_block(f) ? "with no barrier between" : "and blocks run in any order";
    const std::string hint =
        f.before.atomic && f.now.atomic && f.detail[0] ? "Both are atomic, but one of 4 and one of 8 bytes: a GPU does "
                                                         "not order them. Use one type for all atomics "
                                                         "on these bytes."
        : f.before.atomic && f.now.atomic
            ? "Both are atomic, but one holds within its block only. Use an atomic that holds on the whole GPU: the "
              "function without _block, or cuda::thread_scope_device."
        : with_atomic && !same_block(f)
            ? "An atomic protects a word only from other atomics, and no barrier or fence makes blocks wait: write it "
              "before the launch (cudaMemset), or in a kernel before."
        : with_atomic
            ? "An atomic protects a word only from other atomics: use one here as well, or put a barrier between."
        : same_block(f) && is_in_shared(f)
            ? "A barrier belongs between the two lines: __syncthreads(), or __syncwarp() in code for one warp alone. "
              "(If many threads update one place: an atomic.)"
        : same_block(f)
            ? "If the block alone uses this memory, __syncthreads() belongs between the two lines. Where other blocks "
              "use it too no barrier helps: write to other memory than is read, or use two launches. (If many threads "
              "update one place: an atomic.)"
            : "Let each block write a place of its own, use an atomic, or do the second step in another kernel. (Where "
              "the last "
              "block gathers what the others wrote, each needs a __threadfence() before it is counted.)";
    return {with_atomic ? "atomic_race" : "race",
            fmt::format("Race on {}: {} {} it and {} {} it, {}.", element_at(buffers, f), who(f.before),
                        verb_of(f.before), who(f.now), verb_of(f.now), between),
            hint};
}

const char* copy_hint(FindingKind kind) {
    switch (kind) {
        case FindingKind::copy_of_freed:
            return "Free memory after the last copy from or to it.";
        case FindingKind::copy_of_host_variable:
            return "Declare it outside all functions, as in __constant__ float weights[25], and give its name here. A "
                   "parameter of the same name would hide it.";
        case FindingKind::copy_by_name:
            return "On a GPU the name is not a pointer to the device's memory: cudaMemcpyToSymbol and "
                   "cudaMemcpyFromSymbol copy, and cudaGetSymbolAddress gives a pointer for everything else.";
        default:
            return "The first pointer is where the bytes go, the second where they come from: is there memory at both? "
                   "The last argument says from which side to which.";
    }
}

/// Describe an access to the destination of a copy that the kernel itself has started, or a write to its source.
Description unfinished_in_kernel(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    return {
        "unfinished_work",
        fmt::format("Kernel {} {} {}, {} an asynchronous copy may still {}.", kernel_of(f), verb_of(f.now),
                    element_at(buffers, f), f.before.writes ? "to which" : "which", f.before.writes ? "write" : "read"),
        "Let each thread wait for its copies first, and then all threads meet: use cg::wait(group), or "
        "__pipeline_wait_prior(0) and then __syncthreads(), or the wait of the barrier or pipeline that you gave to "
        "the copy. A barrier alone does not wait for copies."};
}

/// Describe an access that nothing orders after earlier work of the device.
Description unfinished(const std::vector<BufferSpec>& buffers, const RawFinding& f) {
    const std::string kernel = kernel_of(f), work = detail_of(f);
    const bool by_host = kernel.empty();
    const std::string who_now = by_host ? "The host" : f.now.program_counter ? "Kernel " + kernel : kernel;
    const std::string earlier = f.before.program_counter
                                    ? fmt::format("kernel {}, launched at line {},", work, f.other_line)
                                    : fmt::format("{} at line {}", work, f.other_line);
    const std::string message =
        fmt::format("{} {} {}, and {} may not be complete: {}.", who_now, verb_of(f.now), element_at(buffers, f),
                    earlier, by_host ? "the host has not waited for it" : "it is in another stream");
    return {"unfinished_work", message,
            by_host ? "Wait before this line: cudaStreamSynchronize(stream), cudaDeviceSynchronize() or an event."
                    : "Streams run at the same time: record an event after the one (cudaEventRecord), and let the "
                      "other's stream wait for it (cudaStreamWaitEvent)."};
}

const char* host_access_hint(const RawFinding& f) {
    return static_cast<FindingSpace>(f.space) == FindingSpace::variable
               ? "On a GPU the host's code does not reach a variable of the device's by its name: use "
                 "cudaMemcpyToSymbol or cudaMemcpyFromSymbol."
               : "The host cannot use a device pointer: copy with cudaMemcpy, or let a kernel do it.";
}

Description describe(const std::vector<BufferSpec>& buffers, const RawFinding& f, const std::string& line) {
    switch (static_cast<FindingKind>(f.kind)) {
        case FindingKind::out_of_bounds:
            return out_of_bounds(buffers, f, line);
        case FindingKind::use_after_free:
            return {"use_after_free",
                    fmt::format("Kernel {} {} {}, which was freed already: {}.", kernel_of(f), verb_of(f.now),
                                element_at(buffers, f), who(f.now)),
                    "Free memory after the last kernel that uses it."};
        case FindingKind::uninitialised:
            return {"uninitialised",
                    fmt::format("Kernel {} reads {}, which nobody has written yet: {}.", kernel_of(f),
                                element_at(buffers, f), who(f.now)),
                    "Memory holds rubbish until it is written: was all of it loaded or copied (sizes are in bytes)? "
                    "Sums and counters "
                    "are cleared first, in every call."};
        case FindingKind::race:
            return race(buffers, f, false);
        case FindingKind::atomic_race:
            return race(buffers, f, true);
        case FindingKind::divergent_barrier:
            return {
                "divergent_barrier",
                fmt::format("Threads of one block wait at two different barriers: {} here, {} at the other.",
                            who(f.now), who(f.before)),
                "Move __syncthreads() out of the if or the loop: all threads of the block must come to the same one."};
        case FindingKind::returned_before_barrier:
            return {"return_before_barrier",
                    fmt::format("{} of {} threads of block {} never come to this barrier.", f.threads_missing,
                                f.threads, index_text(f.now.block)),
                    "Threads without work must not return before it, nor may it be in an if that some do not enter."};
        case FindingKind::misaligned:
            if (is_by_its_variable(f)) return misaligned_variable(f, elements_of(buffers, f).of);
            return {"misaligned",
                    fmt::format("Kernel {} {} {} bytes at byte {} of {}, which is no multiple of {}: {}.", kernel_of(f),
                                verb_of(f.now), f.width, f.offset, elements_of(buffers, f).of, f.width, who(f.now)),
                    misaligned_hint(buffers, f)};
        case FindingKind::host_memory:
            return {"host_memory",
                    fmt::format("Kernel {} {} host memory: {}.", kernel_of(f), verb_of(f.now), who(f.now)),
                    "Kernels see device memory alone: cudaMalloc it and copy."};
        case FindingKind::beside_atomic: {
            const std::string place = element_at(buffers, f);
            return {"beside_atomic",
                    fmt::format("{} {} read plainly while others update with atomics: what is seen may be old.", place,
                                place.starts_with("elements") ? "are" : "is"),
                    "", true};
        }
        case FindingKind::unfinished_async:
            return unfinished_in_kernel(buffers, f);
        case FindingKind::unfinished:
            return unfinished(buffers, f);
        case FindingKind::same_value:
            return {"same_value",
                    fmt::format("Several threads write the same value to {}: harmless, as long as it is the same.",
                                element_at(buffers, f)),
                    "", true};
        case FindingKind::leak:
            return {
                "leak",
                fmt::format("{} that are allocated here are still allocated when the call ends.",
                            format_bytes(static_cast<double>(f.bytes))),
                "Each cudaMalloc needs its cudaFree, and each cudaMallocHost its cudaFreeHost, on every way out of the "
                "function."};
        case FindingKind::copy_direction:
        case FindingKind::copy_of_freed:
        case FindingKind::copy_of_host_variable:
        case FindingKind::copy_by_name:
            return {"copy_direction", fmt::format("{}: {}.", object_of(f), detail_of(f)),
                    copy_hint(static_cast<FindingKind>(f.kind))};
        case FindingKind::copy_size:
            return {"copy_size", fmt::format("{}: {}.", object_of(f), detail_of(f)),
                    "Sizes are in bytes: compare the number of elements and their sizeof with what was allocated."};
        case FindingKind::device_memory:
            return {"device_memory",
                    fmt::format("Host code {} {}: that is device memory.", verb_of(f.now), element_at(buffers, f)),
                    host_access_hint(f)};
        case FindingKind::failed_launch:
            return {"failed_launch",
                    fmt::format("{}{} failed, so the kernel never ran, and the program did not check for this error.",
                                kernel_of(f), detail_of(f)),
                    "A launch needs 1 to 1024 threads per block (at most 64 in z, and at most n if the kernel has "
                    "__launch_bounds__(n)), at least one block (at most 65,535 in y and in z), and at most 48 KB of "
                    "shared memory. To use more shared memory, call cudaFuncSetAttribute(kernel, "
                    "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes). Call cudaGetLastError() after each launch."};
        case FindingKind::invalid_free:
            return {"invalid_free", fmt::format("{} does not take this pointer: {}.", object_of(f), detail_of(f)),
                    "Each allocation is freed once, with the pointer that it gave. The error shows in whatever asks "
                    "for one next."};
        case FindingKind::lane_mask:
            return {"lane_mask", fmt::format("In kernel {}, {}: {}.", kernel_of(f), detail_of(f), who(f.now)),
                    "The mask of a warp function names exactly the lanes that come to it."};
        case FindingKind::unset_constant:
            return {"unset_constant",
                    fmt::format("Kernel {} reads {}, to which nothing was copied: it is 0.", kernel_of(f),
                                element_at(buffers, f)),
                    "Does cudaMemcpyToSymbol come before the launch, and is its size in bytes?", true};
        case FindingKind::input_written:
            return {"input_written",
                    f.line > 0 ? fmt::format("{}: {}.", object_of(f), detail_of(f))
                               : fmt::format("Kernel {} writes {}, an input: {}.", kernel_of(f), element_at(buffers, f),
                                             who(f.now)),
                    "Inputs are const, even if you restore them later: copy data that must change to your own memory."};
        case FindingKind::constant_written:
            return {"constant_written",
                    fmt::format("Kernel {} writes {}, which is constant memory: {}.", kernel_of(f),
                                element_at(buffers, f), who(f.now)),
                    "Kernels can only read __constant__ memory: fill it with cudaMemcpyToSymbol before the launch. For "
                    "data that kernels write, use a __device__ variable."};
        case FindingKind::absent_lane:
            return {"absent_lane",
                    fmt::format("{}: harmless only if it is not used, for nobody knows what it is.", detail_of(f)), "",
                    true};
    }
    return {};  // only a forged page has such a kind
}

/// Drop findings that follow from another finding at the same line and add no information. A line with a race may also
/// read too early, read while an atomic updates, or write a value that is already there. A line with a wrong mask may
/// also miss a lane. A line with an index beyond its array may access anything there.
void drop_consequences(std::vector<Finding>& all) {
    std::set<int> racing, masked, beyond;
    for (const Finding& d : all) {
        if (d.cause == "out_of_bounds") beyond.insert(d.line);
        if (d.cause == "race" || d.cause == "atomic_race") racing.insert({d.line, d.other_line});
        if (d.cause == "lane_mask") masked.insert(d.line);
    }
    std::erase_if(all, [&](const Finding& d) {
        const bool astray =
            d.cause == "race" || d.cause == "same_value" || d.cause == "host_memory" || d.cause == "unset_constant";
        const bool follows = d.cause == "uninitialised" || d.cause == "beside_atomic" || d.cause == "same_value";
        if (astray && d.line > 0 && beyond.contains(d.line)) return true;
        return (follows && d.line > 0 && racing.contains(d.line)) ||
               (d.cause == "absent_lane" && masked.contains(d.line));
    });
}

bool is_race(const Finding& d) { return d.cause == "race" || d.cause == "atomic_race"; }

/// Sort notes last. If there is an access out of bounds, sort races before the notes, because the access
/// may have caused all of them.
void sort_by_likelihood(std::vector<Finding>& all) {
    const bool strays = std::any_of(all.begin(), all.end(), [](const auto& d) { return d.cause == "out_of_bounds"; });
    const auto rank = [&](const Finding& d) { return d.note ? 2 : strays && is_race(d) ? 1 : 0; };
    std::stable_sort(all.begin(), all.end(), [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
}

/// Make the finding a note: since compute capability 7.0, a barrier waits only for threads that have not ended.
void allow_return(Finding& returned) {
    returned.note = true;
    returned.message += " They have ended, so the others do not wait for them, and the outputs are right.";
    returned.hint = "GPUs before Volta (2017) hang here: let all threads come to the barrier, and test afterwards.";
}

std::string quote(const std::string& text, int number) {
    const std::string line = compilation::source_line(text, number);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) return "";
    return shorten(line.substr(first, line.find_last_not_of(" \t\r") + 1 - first), most_quoted_bytes);
}

}  // namespace

std::vector<Finding> explain_findings(const StageRun& run, const std::filesystem::path& source,
                                      const std::vector<RawFinding>& findings, bool outputs_right) {
    if (findings.empty()) return {};
    std::vector<std::uint64_t> counters;
    for (const RawFinding& finding : findings)
        for (const FindingSide* side : {&finding.now, &finding.before})
            if (side->program_counter) counters.push_back(side->program_counter);
    counters.insert(counters.end(), run.guards.begin(), run.guards.end());
    std::ifstream stream(source);
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    auto all = describe_findings(run.lab.buffers, look_up(run, counters), text, run.guards, findings);
    if (outputs_right) {
        std::erase_if(all, matters_if_wrong);
        for (Finding& d : all)
            if (d.cause == "return_before_barrier") allow_return(d);
        sort_by_likelihood(all);
    }
    return all;
}

std::vector<Finding> describe_findings(const std::vector<BufferSpec>& buffers, const SourceLines& lines,
                                       const std::string& text, const std::set<std::uint64_t>& guards,
                                       const std::vector<RawFinding>& findings) {
    const auto line_of = [&](const FindingSide& side) {
        const auto found = lines.find(side.program_counter);
        return found == lines.end() ? 0 : found->second;
    };
    std::set<int> guard_lines;
    for (const std::uint64_t guard : guards)
        if (lines.contains(guard)) guard_lines.insert(lines.at(guard));
    std::vector<Finding> all;
    for (RawFinding finding : findings) {
        const FindingSide& read = finding.now.atomic ? finding.before : finding.now;
        const bool only_reads = finding.kind == static_cast<std::uint32_t>(FindingKind::atomic_race) && !read.writes;
        if (only_reads && guard_lines.contains(line_of(read)))
            finding.kind = static_cast<std::uint32_t>(FindingKind::beside_atomic);
        const int line = finding.line > 0 ? finding.line : line_of(finding.now);
        const Description words = describe(buffers, finding, compilation::source_line(text, line));
        if (words.message.empty()) continue;
        Finding found;
        found.cause = words.cause;
        found.note = words.is_note;
        found.kernel = kernel_of(finding);
        found.line = line;
        found.text = quote(text, line);
        found.other_line = finding.before.program_counter ? line_of(finding.before) : finding.other_line;
        found.other_text = quote(text, found.other_line);
        found.count = finding.count;
        found.message = words.message;
        const bool with_itself = found.cause == "race" && same_block(finding) && found.line == found.other_line;
        found.hint = with_itself ? race_with_itself(finding) : words.hint;
        const auto like = std::find_if(all.begin(), all.end(), [&](const Finding& d) {
            const bool same = d.line == found.line && d.other_line == found.other_line;
            const bool swapped = d.line == found.other_line && d.other_line == found.line;
            return d.cause == found.cause && (same || swapped);
        });
        if (like == all.end())
            all.push_back(found);
        else
            like->count += found.count;
    }
    drop_consequences(all);
    sort_by_likelihood(all);
    return all;
}

std::vector<LineCounts> add_up_counts(const StageRun& run, const std::vector<AccessCounts>& counts) {
    if (counts.empty()) return {};
    std::vector<std::uint64_t> counters;
    for (const AccessCounts& c : counts) counters.push_back(c.program_counter);
    return add_up_counts(look_up(run, counters), counts);
}

std::vector<LineCounts> add_up_counts(const SourceLines& lines, const std::vector<AccessCounts>& counts) {
    std::map<std::tuple<std::string, int, MemoryKind, bool>, LineCounts> sums;
    for (const AccessCounts& c : counts) {
        const auto line = lines.find(c.program_counter);
        if (line == lines.end()) continue;
        const std::string kernel = clean_name(c.kernel, sizeof c.kernel);
        const auto kind = static_cast<MemoryKind>(c.kind);
        LineCounts& sum = sums[{kernel, line->second, kind, c.atomic != 0}];
        sum.kernel = kernel;
        sum.line = line->second;
        sum.kind = kind;
        sum.atomic = c.atomic != 0;
        sum.all += c;
        if (c.writes && !c.atomic) sum.stores += c;
    }
    std::vector<LineCounts> all;
    for (auto& [key, sum] : sums) all.push_back(std::move(sum));
    return all;
}

}  // namespace warplab
