#include "grader/judge/check/failure_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "grader/common/text.h"
#include "grader/judge/run/ending.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

Failure describe_copy_to_host(const StageRun& run, const Trial& trial, const CallResult& result) {
    const std::uint64_t allowed = host_bytes_allowed(run, trial.problem);
    return {cause::host_work,
            fmt::format("A call copied {} from the device to the host; this stage allows {}.",
                        format_bytes(static_cast<double>(result.copied_bytes)),
                        allowed ? format_bytes(static_cast<double>(allowed)) : "nothing"),
            host_work_hint(run.stage.host_bytes_per_iteration)};
}

/// Search for the mistake that explains the outputs, within the stage's remaining time for such searches.
Failure search_cause(StageRun& run, const Situation& situation, const Difference& difference, const Poison& poison) {
    constexpr double max_s = 2;  // for one output
    const Place place =
        place_of(run.lab, difference, situation.problem.arrays[difference.buffer], situation.actual[difference.buffer]);
    run.doing(fmt::format("{}[{}] is {}, expected {}: searching for the cause", place.buffer, place.index, place.actual,
                          place.expected));
    const ExplainingTime time(run.searching_s);
    return explain_difference(run.lab, run.oracle, situation, difference, poison.output,
                              std::min(max_s, run.searching_s));
}

/// Explain a guard violation by the mistake that explains the outputs if that mistake is rows that are too far apart,
/// because this mistake also writes past the end. Any other mistake may be a consequence of the violation.
Failure describe_guard_violation(StageRun& run, const Situation& situation, const CallResult& result,
                                 const Poison& poison) {
    const Failure failure = explain_guard_violation(run.lab, *result.violation);
    const auto is_output = [&](const BufferSpec& b) {
        return b.name == result.violation->buffer && b.role == Role::output;
    };
    if (!result.difference || std::ranges::none_of(run.lab.buffers, is_output)) return failure;
    const Failure explained = search_cause(run, situation, *result.difference, poison);
    if (explained.cause != cause::wrong_pitch) return failure;
    return {explained.cause, failure.message + " " + explained.message, explained.hint, explained.place};
}

Failure describe_modified_input(const Lab& lab, const ModifiedInput& input) {
    const std::string& name = lab.buffers[input.buffer].name;
    return {cause::input_modified,
            fmt::format("The input {} was overwritten: {}[{}] was {} and is {} after the call.", name, name,
                        format_count(input.index), input.before, input.now),
            "Inputs are const: write results to the output buffer only.",
            Place{name, input.index, input.before, input.now}};
}

Failure describe_missing_kernel(bool host_variant) {
    return {cause::not_launched,
            fmt::format("The output is right, but {} launched no kernel: it was computed on the host or only copied.",
                        host_variant ? "the host function" : "the call"),
            "The work belongs in a kernel that is launched with <<<blocks, threads>>>."};
}

/// Explain why a call did not end, from its outputs when it was stopped.
Failure describe_stopped_call(const Lab& lab, const Failure& failure, StoppedOutputs outputs) {
    if (outputs == StoppedOutputs::unfinished) return failure;
    const char* held = outputs == StoppedOutputs::right ? "held the right values" : "held more than the right counts";
    const auto is_output = [](const BufferSpec& buffer) { return buffer.role != Role::input; };
    const BufferSpec& output = *std::ranges::find_if(lab.buffers, is_output);
    return {
        failure.cause,
        fmt::format("{} {} already {} then: threads repeat each other's work.", failure.message, output.name, held),
        "Is the step of the loop the number of threads of the whole grid, gridDim.x * blockDim.x? Or does a loop end "
        "too late? A condition with || is true as long as one of its two parts is.",
        failure.place};
}

/// Return the failure for an output that no thread wrote, although kernels ran. `plain`: the result of
/// explain_output().
Failure describe_unwritten_output(const std::string& output, bool host_variant, const Failure& plain) {
    if (host_variant)
        return {cause::not_copied_back, fmt::format("A kernel ran, but {} was never written.", output),
                "Is the result copied back? The last copy goes from the device's memory to the host's: "
                "cudaMemcpyDeviceToHost.",
                plain.place};
    return {cause::never_written, fmt::format("A kernel ran, but wrote nothing to {}.", output),
            fmt::format("Is {} passed to the kernel, and does a thread reach the line that writes to it? Or does that "
                        "line write to different memory? If a copy fills {}: its destination comes first.",
                        output, output),
            plain.place};
}

Failure describe_leak(std::int64_t bytes, bool host_variant) {
    return {cause::leak,
            fmt::format("{} leaves {} of device memory allocated.", host_variant ? "The host function" : "Every call",
                        format_bytes(static_cast<double>(bytes))),
            "Each cudaMalloc needs a cudaFree on every path out of the function."};
}

Failure describe_early_return(const Failure& plain, std::uint32_t blocks) {
    return {cause::return_before_barrier,
            plain.message +
                fmt::format(" In {}, threads had returned without reaching a __syncthreads() at which others waited.",
                            format_plural(blocks, "block")),
            "All threads of the block must reach a barrier. It must not be inside an if that only some of them enter, "
            "such as if (threadIdx.x == 0); and threads beyond the end must not return before it: let them take part "
            "with a neutral value.",
            plain.place};
}

Failure describe_race(const StageRun& run, const Trial& trial, const Dependence& dependence) {
    const auto& [buffer, wrong, at, last] = dependence.place;
    const Array &first = dependence.first_order[buffer], &second = dependence.second_order[buffer];
    const Array& right = trial.problem.arrays[buffer];
    const bool first_is_right = run.oracle.accepts(trial.problem, buffer, at, value_at(right, at), value_at(first, at));
    return {
        cause::race,
        fmt::format("The result depends on the order of the threads: with the same input {}[{}] is {} when they "
                    "start in one order and {} in another; the right value is {}.",
                    run.lab.buffers[buffer].name, format_count(at), element_text(first, at), element_text(second, at),
                    element_text(right, at)),
        "Do threads use one element without an atomic, or without a __syncthreads() between writing and reading? (That "
        "works within one block; for all blocks, use another launch.) Or is an index out of bounds, or a variable "
        "never set? `make inspect` names lines.",
        place_of(run.lab, dependence.place, right, first_is_right ? second : first)};
}

/// Return "12 x 9" for an extent of two dimensions.
std::string extent_words(const std::uint32_t (&extent)[3]) {
    std::string words = format_count(extent[0]);
    if (extent[1] > 1 || extent[2] > 1) words += " x " + format_count(extent[1]);
    if (extent[2] > 1) words += " x " + format_count(extent[2]);
    return words;
}

/// Return how many vectors of four elements each thread takes if the first wrong element shows that blocks begin too
/// close together, as if each thread took only one vector. Otherwise return 0.
std::size_t vectors_of_thread(const Failure& failure, const LaunchSize& launch) {
    if (failure.cause != cause::grid_too_small || !failure.place || launch.grid[1] * launch.block[1] != 1) return 0;
    for (const std::size_t vectors : {2, 4, 8})
        if (launch.grid[0] > 1 && failure.place->index == 4 * (launch.grid[0] - 1 + vectors) * launch.block[0])
            return vectors;
    return 0;
}

/// If the elements that are missing at the end are as many as the launch has threads, say that each thread's loop ends
/// a step too early. Return whether this is so.
bool name_lost_step(Failure& failure, double elements, double threads) {
    static const std::set<std::string_view> causes = {"tail_lost", "rest_lost", cause::grid_too_small};
    if (!causes.contains(failure.cause) || threads < 64 || threads >= elements) return false;
    if (static_cast<double>(failure.place->index) != elements - threads) return false;
    const auto count = static_cast<std::uint64_t>(threads);
    failure.cause = "rest_lost";
    failure.message = fmt::format(
        "The last {0} of {1} elements are missing, and the launch has {0} threads: the loop of each thread ends one "
        "step too early.",
        format_count(count), format_count(static_cast<std::uint64_t>(elements)));
    failure.hint =
        "The loop's condition must hold for the element of this step, i < n, and not for the one of the next step, as "
        "in i + stride < n.";
    return true;
}

/// If a grid that was rounded down would handle a different number of elements, withdraw the claim that it was.
void doubt_rounding(Failure& failure, double elements, std::uint32_t blocks) {
    if (failure.cause != "tail_lost" || blocks < 2 || failure.place->index % blocks == 0) return;
    const std::uint64_t kept = failure.place->index, all = static_cast<std::uint64_t>(elements);
    failure.cause = "rest_lost";
    failure.message = fmt::format("Only the first {} of {} elements are handled: the last {} are left out.",
                                  format_count(kept), format_count(all), format_count(all - kept));
    failure.hint =
        "Which line handles the elements of the last block, or those after the whole vectors or blocks? Does it handle "
        "all of them, or only one for each thread?";
}

/// Add the call's largest launch to the message if the mistake may be the launch's size. Only the CPU backend knows the
/// line of a launch. If the launch has enough threads after all, change the cause and the hint.
void name_launch(Failure& failure, const Lab& lab, const StatusPage& page, const Problem& problem) {
    static const std::set<std::string_view> size_causes = {"tail_lost", "blocks_rounded_down", "transposed",
                                                           cause::grid_too_small};
    const LaunchSize& launch = page.largest_launch;
    if (launch.line <= 0 || launch.call != page.calls) return;
    const auto volume = [](const std::uint32_t(&extent)[3]) { return double{1} * extent[0] * extent[1] * extent[2]; };
    double elements = 1;
    for (const std::int64_t size : problem.sizes) elements *= static_cast<double>(size);
    std::size_t max_elements = 0;  // a size of the lab may also be a number of iterations
    for (const Array& array : problem.arrays) max_elements = std::max(max_elements, array.count());
    elements = std::min(elements, static_cast<double>(max_elements));
    const bool is_element =
        failure.place && std::ranges::any_of(lab.buffers, [&](const auto& buffer) {
            const auto i = static_cast<std::size_t>(&buffer - lab.buffers.data());
            return buffer.name == failure.place->buffer && static_cast<double>(problem.arrays[i].count()) == elements;
        });
    if (is_element && name_lost_step(failure, elements, volume(launch.grid) * volume(launch.block))) return;
    if (!size_causes.contains(failure.cause)) return;
    if (failure.cause == cause::grid_too_small && volume(launch.grid) * volume(launch.block) >= elements) {
        failure.cause = "rest_lost";
        failure.hint =
            "The launch starts enough threads. Which line computes a thread's index, and is its type wide enough "
            "(std::size_t)? Or which value in the guard or the loop ends too early?";
        return;
    }
    // If there are several kernels, a one-dimensional launch that is large enough may belong to a different kernel.
    const bool is_line = launch.grid[1] * launch.block[1] * launch.grid[2] * launch.block[2] == 1;
    const double threads = volume(launch.grid) * volume(launch.block);
    if (is_line && failure.cause != "transposed" && threads >= elements) return;
    if (volume(launch.grid) == 1 && 2 * threads < elements) return;  // each thread takes several elements
    if (is_line && is_element) doubt_rounding(failure, elements, launch.grid[0]);
    if (const std::size_t vectors = vectors_of_thread(failure, launch)) {
        failure.cause = "blocks_overlap";
        failure.message = fmt::format(
            "Only the first {} of {} elements are handled, as if blocks began {} vectors of four apart, with "
            "{} vectors each.",
            format_count(failure.place->index), format_count(static_cast<std::uint64_t>(elements)), launch.block[0],
            vectors * launch.block[0]);
        failure.hint =
            "If each thread takes several vectors, a block begins at vector blockIdx.x * BLOCK * VECTORS, and the next "
            "block begins where it ends.";
    }
    const std::string grid = extent_words(launch.grid), block = extent_words(launch.block);
    failure.message += fmt::format(" Line {} launches {} {} of {} {}.", launch.line, grid,
                                   grid == "1" ? "block" : "blocks", block, block == "1" ? "thread" : "threads");
}

}  // namespace

Failure describe_failed_call(StageRun& run, const Trial& trial, const CallResult& result, const Poison& poison) {
    const Situation situation{trial.problem, trial.before, result.outputs, trial.previous, poison.beyond, run.stage.id};
    switch (result.error) {
        case CallError::none:
        case CallError::output:
            break;
        case CallError::no_answer:
            return describe_stopped_call(run.lab, *result.no_answer, result.stopped_outputs);
        case CallError::copied_to_host:
            return describe_copy_to_host(run, trial, result);
        case CallError::guard_zone:
            return describe_guard_violation(run, situation, result, poison);
        case CallError::input:
            return describe_modified_input(run.lab, *result.input);
        case CallError::no_kernel:
            return describe_missing_kernel(trial.host_variant);
        case CallError::leak:
            return describe_leak(result.leaked_bytes, trial.host_variant);
    }
    return explain_output(run, trial, result, poison);
}

Failure explain_output(StageRun& run, const Trial& trial, const CallResult& result, const Poison& poison) {
    const Situation situation{trial.problem, trial.before, result.outputs, trial.previous, poison.beyond, run.stage.id};
    Failure plain = search_cause(run, situation, *result.difference, poison);
    if (run.session) name_launch(plain, run.lab, run.session->status(), trial.problem);
    const bool unwritten = plain.cause == cause::never_written;
    const bool wholly = result.difference->wrong == situation.actual[result.difference->buffer].count();
    if (unwritten && wholly && result.launches > 0 && needs_kernel(run.lab, trial.problem))
        return describe_unwritten_output(run.lab.buffers[result.difference->buffer].name, trial.host_variant, plain);
    const bool unexplained = plain.cause == cause::wrong_value && needs_kernel(run.lab, trial.problem);
    if (result.launches > 0 || !(unwritten || unexplained)) return plain;
    return {cause::not_launched,
            fmt::format("No kernel was launched, and the output is {}.", unwritten ? "not written" : "wrong"),
            "Launch your kernel with <<<blocks, threads>>> in the contract function.", plain.place};
}

Failure describe_wrong_output(const StageRun& run, const Trial& trial, const CallResult& result, const Failure& plain,
                              const Dependence& dependence) {
    const std::string& name = run.lab.buffers[result.difference->buffer].name;
    switch (dependence.on) {
        case Dependence::On::unknown:
            break;
        case Dependence::On::early_return:
            return describe_early_return(plain, dependence.blocks);
        case Dependence::On::thread_order:
            return describe_race(run, trial, dependence);
        case Dependence::On::previous_call:
            return {cause::kept_state, "Right in the first call, wrong in the second: " + plain.message,
                    "Data of one call affects the next: an output, a counter or scratch memory that is not "
                    "cleared.",
                    plain.place};
        case Dependence::On::old_contents:
            return {
                cause::added_to_garbage,
                fmt::format("{} is right only if it holds zeros before the call: the result is added to that.", name),
                fmt::format("{} holds garbage before the call: assign with =, not +=, or set it to 0 first.", name),
                plain.place};
    }
    return plain;
}

Failure describe_experiments(const Failure& plain, const std::string& results) {
    return {
        plain.cause, plain.message + " " + results,
        "The judge found this by calls with other arguments, such as inputs that are mostly 0. Which line would "
        "use exactly these elements? Compare its indices, and where its loop begins and ends, with the elements that "
        "you expect.",
        plain.place};
}

bool is_unexplained(const Failure& plain) {
    return plain.cause == cause::wrong_value || plain.cause == cause::wrong_result || plain.cause == cause::nan;
}

Circumstances circumstances_of(const StageRun& run, const Problem& problem) {
    const auto zero = std::ranges::find(problem.sizes, 0);
    return {zero == problem.sizes.end() ? "" : run.lab.sizes[static_cast<std::size_t>(zero - problem.sizes.begin())],
            run.stage.host_bytes_per_iteration};
}

Failure describe_host_function_failure(const Lab& lab, const Failure& failure) {
    // The device function was right for the same data, so the kernel's formula is not the reason.
    const bool blames_kernel = is_unexplained(failure) || failure.cause == "wrong_operation";
    const std::string hint =
        blames_kernel ? fmt::format(
                            "With the same data, {} alone gives the right result. So compare each cudaMemcpy of "
                            "{}_host (destination, source, size, direction) and the arguments of its call.",
                            lab.name, lab.name)
                      : failure.hint;
    return {failure.cause, fmt::format("In {}_host: {}", lab.name, failure.message), hint, failure.place,
            failure.hangs};
}

Failure describe_missing_host_function(const Lab& lab) {
    return {cause::missing_function, fmt::format("{}_host is not defined; this stage asks for it.", lab.name),
            fmt::format("Its signature is in labs/{}/lab.h: allocate, copy in, call, copy back, free.", lab.name)};
}

Failure describe_excess_memory(const std::string& skipped_why) {
    return {cause::out_of_memory,
            fmt::format("This dataset {}, but only while this program runs; it fits with the reference.", skipped_why),
            "Is memory allocated before the call and never freed? Does _scratch_bytes ask for more than it needs?"};
}

Failure describe_reference_failure(const Failure& of_reference) {
    return {of_reference.cause, "The stage's reference cannot be checked here either: " + of_reference.message,
            "This is not a mistake of the student.", of_reference.place, of_reference.hangs};
}

Failure describe_internal_error(const std::string& what) {
    return {cause::internal, fmt::format("The judge could not check this dataset: {}.", what)};
}

}  // namespace warplab
