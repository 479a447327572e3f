#include "grader/judge/run/ending.h"

#include <fmt/format.h>
#include <signal.h>

#include <cstring>

#include "grader/common/text.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

/// Exit statuses of grader/runner and its CUDA_CHECK.
enum class RunnerExit {
    not_ready = 2,
    check_failed = 90,
    channel_closed = 91,
    check_failed_for_memory = 92,
    check_failed_for_configuration = 93,
    check_failed_for_value = 94
};

/// The errors of CUDA that a hint depends on.
enum class CudaError {
    other = 0,
    invalid_value = 1,
    out_of_memory = 2,
    invalid_configuration = 9,
    illegal_address = 700
};

// A program that does not end, and uses more than this in addition to twice the size of its buffers, is reported as out
// of memory.
constexpr std::uint64_t much_memory_bytes = 512 << 20;
// A call that is stopped after this many launches is reported with their number.
constexpr std::uint32_t many_launches = 1000;
constexpr auto memory_hint =
    "Is memory allocated in a loop and never freed? Is a size negative, or computed with an overflow?";

constexpr std::string_view compare_local_indices =
    "Compare each index of a local array with its declared size, dimension by dimension; an array that is passed to a "
    "function has no size there.";

constexpr auto host_memory_hint =
    "Kernels see only device memory: allocate it with cudaMalloc, and copy. Does the kernel get device pointers only?";

/// Return text of an untrusted process without control characters, and bounded in length.
std::string clean(const char* text, std::size_t room) {
    std::string words(text, strnlen(text, room));
    for (char& c : words)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return words;
}

std::string triple(const std::uint32_t (&v)[3]) { return fmt::format("({},{},{})", v[0], v[1], v[2]); }

std::string describe_place(const StatusPage& page) {
    const std::string kernel = clean(page.kernel, sizeof page.kernel);
    if (kernel.empty()) return "before any kernel was launched";
    const std::string line = page.launch_line > 0 ? fmt::format(" (launched at line {})", page.launch_line) : "";
    return page.in_kernel ? fmt::format("in kernel {}{}", kernel, line)
                          : fmt::format("after kernel {}{} was launched", kernel, line);
}

/// Return the failure for an error that a CUDA function returned. Since CUDA 13, the launch of an empty grid reports an
/// invalid value.
Failure explain_cuda_error(CudaError error, std::string message, const StatusPage& page,
                           const std::optional<Circumstances>& circumstances) {
    const bool empty = circumstances && !circumstances->zero_size.empty();
    const auto limit = static_cast<LaunchLimit>(page.launch_limit);
    const bool of_memory = error == CudaError::illegal_address || error == CudaError::out_of_memory;
    const bool bad_launch = (limit != LaunchLimit::none && !of_memory) || error == CudaError::invalid_configuration ||
                            (empty && error == CudaError::invalid_value);
    if (circumstances && bad_launch)
        return {cause::launch_failed, std::move(message),
                empty
                    ? fmt::format("{} is 0 here, and a grid of 0 blocks is an error: launch this kernel only if there "
                                  "is something to do. The call must still set its outputs, such as bins.",
                                  circumstances->zero_size)
                    : hint_for_launch(limit)};
    const auto hint = error == CudaError::out_of_memory ? memory_hint
                      : circumstances && error == CudaError::illegal_address
                          ? "A thread used an address outside all memory: is the index checked against "
                            "the size? `make sanitize` names the line."
                      : error == CudaError::invalid_value && message.find("cudaMalloc(") != std::string::npos
                          ? "cudaMalloc stores the address of the new memory in a pointer, so it takes that pointer's "
                            "address: cudaMalloc(&p, bytes)."
                          : "";
    return {cause::cuda_error, std::move(message), hint};
}

/// Return the error for which CUDA_CHECK ended the program; nothing if another reason ended it.
std::optional<CudaError> error_of_check(const Ended& ended) {
    if (ended.how != End::exited && ended.how != End::out_of_memory) return std::nullopt;
    switch (static_cast<RunnerExit>(ended.status)) {
        case RunnerExit::check_failed:
            return CudaError::other;
        case RunnerExit::check_failed_for_memory:
            return CudaError::out_of_memory;
        case RunnerExit::check_failed_for_configuration:
            return CudaError::invalid_configuration;
        case RunnerExit::check_failed_for_value:
            return CudaError::invalid_value;
        default:
            return std::nullopt;
    }
}

/// Return the backend's description of the last mistake as the end of a sentence, ": …"; empty if there is none.
std::string detail_words(const StatusPage& page) {
    const std::string detail = clean(page.detail, sizeof page.detail);
    return detail.empty() ? "" : ": " + detail;
}

std::string last_line(const std::string& text) {
    const auto end = text.find_last_not_of("\n\r ");
    if (end == std::string::npos) return "";
    const auto begin = text.find_last_of('\n', end);
    return text.substr(begin == std::string::npos ? 0 : begin + 1,
                       end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// Return "std::runtime_error (oh no)" if the C++ library's last output shows an exception; else "".
std::string uncaught_exception(const std::string& output) {
    const std::string opening = "terminate called after throwing an instance of '";
    const std::size_t at = output.rfind(opening);
    if (at == std::string::npos) return "";
    const std::size_t begin = at + opening.size(), end = output.find('\'', begin);
    const std::string type = clean(output.substr(begin, end - begin).c_str(), 100);
    const std::size_t label = output.find("what():", begin);
    if (label == std::string::npos) return type;
    const std::size_t words = output.find_first_not_of(' ', label + 7);
    if (words == std::string::npos) return type;
    return fmt::format("{} ({})", type, clean(output.substr(words, output.find('\n', words) - words).c_str(), 200));
}

Failure not_caught(const std::string& exception, const std::string& place) {
    return {cause::crash, fmt::format("The exception {} was thrown and not caught, {}.", exception, place),
            "Catch it in the contract function, or avoid throwing it."};
}

const char* hint_for_segmentation(bool in_kernel, bool launched, const std::string& detail) {
    if (in_kernel) return "Is the index checked against the size before it is used?";
    if (detail.empty() && launched)
        return "Host code must not exceed its own arrays, and a kernel must not exceed its __shared__ or local "
               "arrays: `make inspect` names the line.";
    return "Host code must not use a device pointer, and must not exceed its own arrays.";
}

const char* hint_for_deadlock(Fault fault) {
    switch (fault) {
        case Fault::hang_before_earlier:
            return "If the block waits for one with a smaller blockIdx: CUDA guarantees no order of blocks. Number the "
                   "blocks as they start: let one thread of each block take its number from a counter with atomicAdd.";
        case Fault::hang_before_later:
            return "If the block waits for a later one: a GPU also runs only as many blocks at once as fit. End the "
                   "kernel where all blocks must synchronise, or launch it with cudaLaunchCooperativeKernel and use "
                   "grid.sync(). Otherwise, look for a lock that no thread releases, a flag that no thread sets, or an "
                   "atomicCAS that still expects an old value: after it fails, try again with the value that it "
                   "returned.";
        case Fault::hang:
            return "Look for a lock that its owner does not release on every path, a flag that no thread sets, or a "
                   "cuda::barrier that expects more threads than arrive.";
        default:
            return "Every thread of the block must reach the same __syncthreads(): move it out of the if.";
    }
}

bool is_deadlock(Fault fault) {
    return fault == Fault::deadlock || fault == Fault::hang || fault == Fault::hang_before_later ||
           fault == Fault::hang_before_earlier;
}

std::string signal_words(int signal) {
    switch (signal) {
        case SIGSEGV:
            return "segmentation fault (an address that does not exist)";
        case SIGBUS:
            return "bus error (an address that does not exist)";
        case SIGFPE:
            return "arithmetic fault (an integer divided by zero)";
        case SIGABRT:
            return "abort (an assertion failed, or the heap is damaged)";
        case SIGILL:
            return "illegal instruction (often a function that must return a value and does not)";
        case SIGKILL:
            return "killed (often because memory ran out)";
        case SIGXFSZ:
            return "a file that it wrote grew too large";
        default:
            return strsignal(signal);
    }
}

/// Return "at file.cu:31, in kernel k (launched at line 40), block (1,0,0), thread (3,0,0)", as far as known.
std::string where_in_file(const Ending& ending) {
    const StatusPage& page = ending.page;
    std::string place = describe_place(page);
    if (page.in_kernel && page.fault != 0 && !is_deadlock(static_cast<Fault>(page.fault)))
        place += fmt::format(", block {}", triple(page.block)) +
                 (page.thread[0] == unknown_thread ? "" : fmt::format(", thread {}", triple(page.thread)));
    return ending.line.empty() ? place : fmt::format("at {}, {}", clean(ending.line.c_str(), 200), place);
}

Failure explain_fault(const Ending& ending) {
    const StatusPage& page = ending.page;
    const std::string place = where_in_file(ending);
    const std::string detail = clean(page.detail, sizeof page.detail);
    const auto fault = static_cast<Fault>(page.fault);
    const auto segmentation = [&](const std::string& hint) {
        const std::string reason =
            detail.empty() ? fmt::format("address {:#x} belongs to no buffer", page.address) : detail;
        return Failure{cause::crash, fmt::format("Segmentation fault {}: {}.", place, reason), hint};
    };
    const auto abortion = [&](const char* hint) {
        return Failure{cause::crash,
                       fmt::format("The program aborted {}{}.", place, detail.empty() ? "" : ": " + detail), hint};
    };
    const bool is_elsewhere = page.in_kernel && page.program_counter != 0 && ending.line.empty();
    if (is_elsewhere && (fault == Fault::segmentation || fault == Fault::past_earlier || fault == Fault::null_pointer))
        return segmentation(
            fmt::format("No line of the file made this access. So the kernel may have overwritten its own variables, "
                        "by a store beyond the end of a local array. {}",
                        compare_local_indices));
    switch (fault) {
        case Fault::segmentation:
            return segmentation(hint_for_segmentation(page.in_kernel, page.launches > 0, detail));
        case Fault::past_earlier:
            return segmentation(
                "The function is called with different sizes, in any order: is the buffer allocated once, for the "
                "first call's n? Allocate and free it in each call, or allocate a larger one when n grows. If it is "
                "large enough: is the index checked against the size before it is used?");
        case Fault::null_pointer:
            return segmentation(
                "Was memory allocated for it, and more than 0 bytes? (scratch is null if the stage's _scratch_bytes() "
                "returns 0.)");
        case Fault::unset_pointer:
            return segmentation("Set it before it is used: by cudaMalloc, or to a part of scratch.");
        case Fault::overwritten:
            return {cause::crash,
                    fmt::format("The kernel overwrote its own local variables, and then crashed: {}.",
                                describe_place(page)),
                    fmt::format("A store beyond the end of a local array overwrites the thread's other variables. {}",
                                compare_local_indices)};
        case Fault::misaligned:
            return segmentation(
                "A pointer to float is a multiple of 4 bytes: cast it to float4* only if it is a multiple of 16, "
                "too. If a local array is passed to a function: does a store beyond its end overwrite this pointer?");
        case Fault::wrong_free:
            return segmentation("");
        case Fault::host_memory:
            return {cause::host_memory, fmt::format("The kernel uses host memory {}.", place), host_memory_hint};
        case Fault::stack_overflow:
            return {cause::crash, fmt::format("The stack overflowed {}.", place),
                    "Look for endless recursion, a very large local array, or a copy that is larger than the local "
                    "variable that it fills: cudaMemcpy(&p, …) overwrites p itself, cudaMemcpy(p, …) fills its array."};
        case Fault::deadlock:
        case Fault::hang:
        case Fault::hang_before_later:
        case Fault::hang_before_earlier:
            return {cause::deadlock,
                    fmt::format("Deadlock {}: {}", place,
                                detail.empty() ? "threads wait at a barrier that others never reach." : detail),
                    hint_for_deadlock(fault),
                    {},
                    fault != Fault::deadlock};
        case Fault::illegal_address:
            return {cause::cuda_error, fmt::format("Wrong pointer {}: {}", place, detail)};
        case Fault::arithmetic:
            return {cause::crash, fmt::format("An integer was divided by zero {}.", place),
                    "Which size can be 0 there? Test the divisor before the division."};
        case Fault::exited:
            return {cause::exited, fmt::format("The program called {} {}.", detail.empty() ? "exit()" : detail, place),
                    "The contract function must return; it must not end the program."};
        case Fault::host_limit:
            return {cause::host_work, fmt::format("Too much was copied to the host: {}", detail),
                    host_work_hint(ending.circumstances ? ending.circumstances->host_bytes_per_iteration : 0)};
        case Fault::too_much_shared:
            return abortion("Make the arrays smaller (a smaller tile, or another type).");
        case Fault::refused:
            return abortion("");
        case Fault::no_memory: {
            Failure failure = abortion("");
            failure.cause = cause::out_of_memory;
            return failure;
        }
        case Fault::illegal_instruction:
            return {cause::illegal_instruction, abortion("").message, "Is a divisor 0 there, in / or %?"};
        case Fault::missing_return:
            return {cause::missing_return,
                    fmt::format("{}{}.",
                                detail.empty() ? "A function returns a value, but a call of it reached the end "
                                                 "without a return statement"
                                               : "T" + detail.substr(1),
                                page.in_kernel ? fmt::format(" ({})", describe_place(page)) : ""),
                    "Write return, with the value, on every path through the function."};
        case Fault::aborted:
        case Fault::none:
            break;
    }
    if (const std::string exception = uncaught_exception(ending.ended.output); !exception.empty())
        return not_caught(exception, place);
    return abortion("An assert(), abort() or the C library ended it: DATASET=NAME shows what it printed before.");
}

Failure explain_timeout(const Ending& ending) {
    const StatusPage& page = ending.page;
    if (ending.ended.peak_rss_bytes > 2 * ending.buffer_bytes + much_memory_bytes)
        return {cause::out_of_memory,
                fmt::format("The program took {} MB of memory in {:.0f} s and did not end, {}.",
                            ending.ended.peak_rss_bytes >> 20, ending.limit_s, describe_place(page)),
                memory_hint};
    if (page.call_launches >= many_launches)
        return {
            cause::timeout,
            fmt::format("No answer after {:.0f} s, {}: the call had launched {} kernels by then.",
                        (ending.ended.made_progress ? max_with_progress : 1) * ending.limit_s, describe_place(page),
                        format_count(page.call_launches)),
            fmt::format("All kernels before the last one ended. Does the loop on the host around {} end? Look for a "
                        "condition whose variables never change, or that is never reached exactly (!= in place of "
                        "<). If it ends, look into the kernel.",
                        page.launch_line > 0 ? fmt::format("line {}", page.launch_line) : "the launch")};
    if (ending.ended.made_progress)
        return {cause::timeout,
                fmt::format("No answer after {:.0f} s, {}: its blocks end, but slowly.",
                            max_with_progress * ending.limit_s, describe_place(page)),
                "Do threads repeat each other's elements? The step of a grid-stride loop is gridDim.x * blockDim.x. "
                "If every thread does only its own share, this dataset needs a GPU."};
    return {cause::timeout,
            fmt::format("No answer after {:.0f} s, {}{}.", ending.limit_s, describe_place(page), detail_words(page)),
            "Does every loop end? In a kernel, look for a counter that does not change (=+ is not +=), a step of 0, 1 "
            "or blockIdx.x instead of gridDim.x * blockDim.x, an index that wraps around before it reaches the end "
            "(with unsigned, if i + step exceeds 2^32 - 1; use std::size_t), or a wait for another block: without a "
            "GPU, blocks run one after the other, and a GPU may do the same. Around a launch, look for a loop that "
            "never ends."};
}

Failure explain_exit(const Ending& ending) {
    const Ended& ended = ending.ended;
    const auto exit = static_cast<RunnerExit>(ended.status);
    if (exit == RunnerExit::channel_closed) return explain_violation(Violation::closed_channel);
    const std::string printed = clean(last_line(ended.output).c_str(), 300);
    const std::string words = printed.empty() ? "" : fmt::format(" Its last output: {}", printed);
    if (ending.page.phase < static_cast<std::uint32_t>(Phase::prepare))
        return {exit == RunnerExit::not_ready ? cause::internal : cause::exited,
                fmt::format("The program ended with exit status {} before the first call.{}", ended.status, words),
                "Does a constructor of a global object, or other code that runs before main, end the program?"};
    return {cause::exited,
            fmt::format("The program ended with exit status {} in the middle of the call, {}.{}", ended.status,
                        describe_place(ending.page), words),
            "The contract function must return; it must not call exit()."};
}

}  // namespace

const char* hint_for_launch(LaunchLimit limit) {
    switch (limit) {
        case LaunchLimit::empty:
            return "Round the number of blocks up, (n + threads - 1) / threads, and return early when there is nothing "
                   "to do.";
        case LaunchLimit::threads:
            return "A launch is <<<blocks, threads of a block>>>: are the two swapped? A block has 1 to 1024 threads, "
                   "counted over all three directions.";
        case LaunchLimit::threads_in_z:
            return "A block has at most 1024 threads in x and in y, and at most 64 in z.";
        case LaunchLimit::blocks:
            return "Give the longest direction to x: y and z have at most 65,535 blocks.";
        case LaunchLimit::launch_bounds:
            return "Launch the kernel with fewer threads in a block, or raise the number in its __launch_bounds__.";
        case LaunchLimit::shared:
            return "To use more shared memory, call cudaFuncSetAttribute(kernel, "
                   "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) before the launch.";
        case LaunchLimit::max_shared:
            return "Use a smaller tile, or share it among fewer threads. The size in <<< >>> is in bytes.";
        case LaunchLimit::blocks_at_once:
            return "All blocks of a cooperative launch run at once: cudaOccupancyMaxActiveBlocksPerMultiprocessor says "
                   "how many fit on each multiprocessor.";
        case LaunchLimit::none:
            break;
    }
    return "A launch is <<<blocks, threads of a block>>>: are the two swapped? A block has 1 to 1024 threads, and at "
           "most 48 KB of shared memory unless more is requested. There is at least one block.";
}

bool may_be_judges_fault(const Failure& failure) {
    return failure.cause == cause::internal || failure.cause == cause::sandbox;
}

Failure attribute_to_program(Failure failure) {
    failure.cause = failure.cause == cause::internal ? cause::exited : cause::crash;
    return failure;
}

std::string host_work_hint(std::uint64_t host_bytes_per_iteration) {
    if (host_bytes_per_iteration == 0)
        return "The computation belongs on the device: only as much as the stage allows may be copied to the host.";
    return fmt::format(
        "Look at the number of bytes in each copy to the host: the stage allows {} per iteration. If that is right, "
        "does the loop end after the last requested iteration, and does each iteration count?",
        format_bytes(static_cast<double>(host_bytes_per_iteration)));
}

Failure explain_refusal(const protocol::Answer& answer, const StatusPage& page,
                        const std::optional<Circumstances>& circumstances) {
    const std::string words = clean(answer.message, sizeof answer.message);
    const std::string detail = clean(page.detail, sizeof page.detail);
    return explain_cuda_error(static_cast<CudaError>(answer.cuda_error),
                              detail.empty() ? fmt::format("CUDA error {} ({})", words, describe_place(page))
                                             : fmt::format("CUDA error {}: {}", words, detail),
                              page, circumstances);
}

Failure explain_violation(Violation violation) {
    const auto what = [&] {
        switch (violation) {
            case Violation::answered_before_asked:
                return "The program sent an answer before a request.";
            case Violation::reads_no_requests:
                return "The program no longer reads the grader's requests.";
            case Violation::wrote_to_channel:
                return "The program wrote to the grader's own channel.";
            case Violation::closed_channel:
                return "The program closed the grader's own channel.";
        }
        return "";
    };
    return {cause::protocol, what(), "Do not use file descriptors 3, 4 and 5."};
}

Failure explain_end(const Ending& ending) {
    const Ended& ended = ending.ended;
    const StatusPage& page = ending.page;
    const bool stopped = ended.how == End::timed_out || ended.how == End::flooded;
    const auto fault = static_cast<Fault>(page.fault);
    const bool no_memory = ended.how == End::out_of_memory &&
                           (fault == Fault::null_pointer || fault == Fault::aborted || fault == Fault::no_memory);
    if (page.fault != 0 && !stopped && !no_memory) return explain_fault(ending);
    if (const auto error = error_of_check(ended)) {
        const std::string message = clean(last_line(ended.output).c_str(), 500) + detail_words(page) + ".";
        if (ended.how != End::out_of_memory)
            return explain_cuda_error(*error, message, ending.page, ending.circumstances);
        return {cause::out_of_memory, message, *error == CudaError::out_of_memory ? memory_hint : ""};
    }
    switch (ended.how) {
        case End::not_started:
            return {cause::sandbox,
                    fmt::format("The program could not be started: {}.", clean(ended.start_error.c_str(), 300)),
                    "A very large global array, or an asm statement or attribute that names a section, can do this."};
        case End::out_of_memory:
            return {cause::out_of_memory,
                    fmt::format("The program exceeded its memory limit ({} MB), {}.", ending.limits.memory_bytes >> 20,
                                where_in_file(ending)),
                    memory_hint};
        case End::flooded:
            return {cause::too_much_output,
                    fmt::format("The program printed more than {} MB, {}.", ending.limits.max_printed_bytes >> 20,
                                describe_place(page)),
                    "Remove the printing, or let one thread print: if (i == 0) printf(...)."};
        case End::budget_spent:
            return {cause::timeout,
                    fmt::format("Compiling, preparing and all calls of this stage together took too long; the program "
                                "was stopped {}.",
                                describe_place(page)),
                    "Which step takes long although it computes little? Look for waiting or repeated work in prepare "
                    "and in the calls."};
        case End::timed_out:
            return explain_timeout(ending);
        case End::signaled:
            if (const std::string exception = uncaught_exception(ended.output); !exception.empty())
                return not_caught(exception, describe_place(page));
            return {ended.status == SIGKILL ? cause::out_of_memory : cause::crash,
                    fmt::format("The program ended by {}, {}.", signal_words(ended.status), describe_place(page))};
        case End::exited:
            break;
    }
    return explain_exit(ending);
}

}  // namespace warplab
