#include "grader/judge/check/check.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "grader/judge/check/call.h"
#include "grader/judge/check/failure_messages.h"
#include "grader/judge/run/ending.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

constexpr std::size_t guard_bytes = 64 << 10;   // detects writes past the end, up to 64 bytes for each of 1024 threads
constexpr std::size_t small_bytes = 256 << 20;  // below this, the second call gets its own inputs
constexpr std::size_t huge_bytes = 4ull << 30;  // from this size on, make only one call: another would take seconds
constexpr std::uint64_t other_inputs = 0x9e3779b97f4a7c15ull;

bool has_second_inputs(const Problem& problem) { return Buffers::bytes_per_slot(problem, 0, 0) < small_bytes; }

struct Judged {
    std::optional<Failure> failure;
    bool has_host = false;
};

/// Make two calls in one process: the first with fresh outputs, the second with stale outputs, the other thread order
/// and, below small_bytes, other inputs. If inputs and outputs have huge_bytes or more, make only the first.
Judged judge_calls(StageRun& run, const Dataset& dataset, Problem& first, bool host_variant) {
    Problem second = first;
    const bool own_inputs = has_second_inputs(first);
    if (own_inputs) second = run.generate(dataset, dataset.seed ^ other_inputs);
    const Poison poison = Poison::draw(dataset.seed + host_variant);

    if (run.backend == Backend::cuda)
        if (const Session::Reply reply = run.wait_for_device(); reply.failure) return {reply.failure, false};
    const Prepared prepared = prepare(run, first, host_variant);
    if (prepared.failure) return {prepared.failure, false};
    if (host_variant && !prepared.has_host) return {std::nullopt, false};
    BufferMemory& memory = host_variant ? run.host : run.device;
    Buffers buffers(memory, run.lab, first, prepared.scratch_bytes, 1, run.tool.empty() ? guard_bytes : 0, poison);
    if (auto failure = open_buffers(run, first, buffers, host_variant)) return {failure, prepared.has_host};

    const std::vector<Array> fresh = fresh_contents(run.lab, first);
    const std::vector<Array> next_fresh = own_inputs ? fresh_contents(run.lab, second) : fresh;
    run.solve(dataset, dataset.seed, first);
    const JudgedCall first_call = judge_call(
        run, buffers, {first, fresh, nullptr, 0, host_variant, !host_variant, Trial::Ready::poisoned_outputs});
    if (first_call.failure || Buffers::bytes_per_slot(first, 0, 0) >= huge_bytes)
        return {first_call.failure, prepared.has_host};

    if (own_inputs) run.solve(dataset, dataset.seed ^ other_inputs, second);
    const std::vector<Array> stale = with_outputs(run.lab, next_fresh, first_call.outputs);
    const auto ready = own_inputs ? Trial::Ready::nothing : Trial::Ready::previous_contents;
    const JudgedCall second_call =
        judge_call(run, buffers, {own_inputs ? second : first, stale, &first, 1, host_variant, false, ready});
    return {second_call.failure, prepared.has_host};
}

/// Return whether there is nothing to compute: no output elements, or no elements in any of the inputs.
bool is_empty(const Lab& lab, const Problem& problem) {
    std::size_t outputs = 0, inputs = 0, input_elements = 0;
    for (std::size_t i = 0; i < lab.buffers.size(); ++i) {
        if (lab.buffers[i].role != Role::input) outputs += problem.arrays[i].count();
        if (lab.buffers[i].role == Role::output) continue;
        ++inputs;
        input_elements += problem.arrays[i].count();
    }
    return outputs == 0 || (inputs > 0 && input_elements == 0);
}

/// Judge the device calls, then the host variant if the stage requires one.
std::optional<Failure> judge_dataset(StageRun& run, const Dataset& dataset, Problem& problem) {
    const Judged on_device = judge_calls(run, dataset, problem, false);
    const bool requires_host = run.stage.host_variant && !dataset.uses.cuda_only && run.tool.empty();
    if (on_device.failure || !requires_host) return on_device.failure;
    if (!on_device.has_host) return describe_missing_host_function(run.lab);
    Problem host_problem = run.generate(dataset, dataset.seed);
    const Judged on_host = judge_calls(run, dataset, host_problem, true);
    if (!on_host.failure) return std::nullopt;
    return describe_host_function_failure(run.lab, *on_host.failure);
}

Check new_check(const Dataset& dataset) {
    Check check;
    check.dataset = dataset.name;
    check.hidden = dataset.uses.hidden;
    check.points = dataset.points;
    return check;
}

/// Check a dataset, without asking whether the reference has the same result.
Check check_once(StageRun& run, const Dataset& dataset) {
    const auto begin = std::chrono::steady_clock::now();
    Check check = new_check(dataset);
    try {
        Problem problem = run.generate(dataset, dataset.seed);
        check.empty = is_empty(run.lab, problem);
        check.failure = judge_dataset(run, dataset, problem);
        check.verdict = !check.failure                        ? Verdict::passed
                        : may_be_judges_fault(*check.failure) ? Verdict::error
                                                              : Verdict::failed;
    } catch (const OutOfMemory& error) {
        check.skipped_why = fmt::format("does not fit on this machine: {}", error.what());
    } catch (const std::bad_alloc&) {
        check.skipped_why = "does not fit in this machine's memory";
    } catch (const ManifestError&) {
        throw;
    } catch (const std::exception& error) {
        check.failure = describe_internal_error(error.what());
    }
    check.skipped = !check.skipped_why.empty();
    if (check.skipped || check.failure)
        run.end_session();
    else if (run.has_uncollected_counts)
        run.collect_counts();
    check.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return check;
}

bool ran_out_of_memory(const Check& check) { return check.failure && check.failure->cause == cause::out_of_memory; }

/// Return whether the machine, rather than the program, may be the reason for the outcome.
bool is_undecided(const Check& check) {
    return check.skipped || check.verdict == Verdict::error || ran_out_of_memory(check);
}

/// Check the reference while no other program runs. A GPU may release a killed program's memory late.
Check check_reference(StageRun& reference, const Dataset& dataset) {
    Check check = check_once(reference, dataset);
    for (int attempt = 0; attempt < 3 && check.skipped && reference.backend == Backend::cuda; ++attempt) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        check = check_once(reference, dataset);
    }
    reference.end_session();
    return check;
}

/// Decide an undecided check: run the reference to find out whether the program or the machine is at fault.
Check confirm(StageRun& run, const Dataset& dataset, const Check& check) {
    const std::unique_ptr<StageRun> reference = run.reference ? run.reference() : nullptr;
    if (!reference) return check;
    const Check reference_check = check_reference(*reference, dataset);
    if (is_undecided(reference_check) && !reference_check.failure) return check.skipped ? check : reference_check;
    Check decided = new_check(dataset);
    decided.empty = check.empty;
    decided.wall_s = check.wall_s;
    if (is_undecided(reference_check)) {
        decided.failure = describe_reference_failure(*reference_check.failure);
        decided.verdict = Verdict::error;
        return decided;
    }
    if (ran_out_of_memory(check)) return check;
    decided.failure = check.skipped ? describe_excess_memory(check.skipped_why) : attribute_to_program(*check.failure);
    decided.verdict = Verdict::failed;
    return decided;
}

}  // namespace

std::string why_not_on_this_backend(const StageRun& run, const Dataset& dataset) {
    if (dataset.uses.cuda_only && run.backend == Backend::cpu) return "needs a GPU: too large for the CPU backend";
    return "";
}

void solve_for_check(KnownProblems& known, const Oracle& oracle, const Lab& lab, const Dataset& dataset) {
    if (dataset.uses.cuda_only) return;
    const auto solve = [&](std::uint64_t seed) {
        Problem problem = known.generate(oracle, lab, dataset, seed);
        known.solve(oracle, lab, dataset, seed, problem);
        return problem;
    };
    if (has_second_inputs(solve(dataset.seed))) solve(dataset.seed ^ other_inputs);
}

Check check_dataset(StageRun& run, const Dataset& dataset) {
    if (const std::string reason = why_not_on_this_backend(run, dataset); !reason.empty())
        return skipped_check(dataset, reason);
    const Check check = check_once(run, dataset);
    return is_undecided(check) ? confirm(run, dataset, check) : check;
}

Check skipped_check(const Dataset& dataset, const std::string& reason) {
    Check check = new_check(dataset);
    check.skipped = true;
    check.skipped_why = reason;
    return check;
}

Check failed_check(const Dataset& dataset, const Failure& failure) {
    Check check = new_check(dataset);
    check.verdict = Verdict::failed;
    check.failure = failure;
    return check;
}

}  // namespace warplab
