#include "grader/judge/check/call.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "grader/judge/check/doubts.h"
#include "grader/judge/check/failure_messages.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

std::vector<Array> without_outputs(const Lab& lab, const std::vector<Array>& contents) {
    return with_outputs(lab, contents, std::vector<Array>(contents.size()));
}

/// Return the contents before the call, with poison in the outputs that have no elements yet.
std::vector<Array> whole_contents(const Lab& lab, const Trial& trial, const Buffers& buffers) {
    std::vector<Array> contents = trial.before;
    for (std::size_t i = 0; i < contents.size(); ++i) {
        const Array& shape = trial.problem.arrays[i];
        if (lab.buffers[i].role == Role::output && contents[i].count() < shape.count())
            contents[i] = poisoned(shape.type(), shape.count(), buffers.poison().output);
    }
    return contents;
}

void write_contents(const Lab& lab, Buffers& buffers, const Trial& trial) {
    using enum Trial::Ready;
    buffers.poison_scratch();
    for (std::size_t i = 0; i < trial.before.size(); ++i) {
        const Role role = lab.buffers[i].role;
        const bool is_ready =
            role == Role::output ? trial.ready != nothing : role == Role::input && trial.ready == previous_contents;
        if (role != Role::input && trial.ready != previous_contents) {
            if (is_ready)
                buffers.poison_whole(i);
            else
                buffers.poison_around(i);
        }
        if (!is_ready) buffers.write(i, 0, trial.before[i]);
    }
}

std::optional<ModifiedInput> find_modified_input(const Lab& lab, const Buffers& buffers, const Problem& problem) {
    for (std::size_t i = 0; i < lab.buffers.size(); ++i) {
        if (lab.buffers[i].role != Role::input) continue;
        const Array& before = problem.arrays[i];
        if (const auto at = buffers.first_change(i, 0, before))
            return ModifiedInput{i, *at, element_text(before, *at), element_text(buffers.read_part(i, 0, *at, 1), 0)};
    }
    return std::nullopt;
}

void compare_outputs(const StageRun& run, const Buffers& buffers, const Trial& trial, CallResult& result) {
    const Lab& lab = run.lab;
    result.violation = buffers.find_guard_violation(0);
    if (!result.violation) result.input = find_modified_input(lab, buffers, trial.problem);
    for (std::size_t i = 0; i < lab.buffers.size(); ++i) {
        const Array& right = trial.problem.arrays[i];
        const bool is_right = lab.buffers[i].role == Role::input || !buffers.first_change(i, 0, right);
        result.outputs.push_back(is_right ? right : buffers.read(i, 0));
        if (!is_right && !result.input && !result.difference)
            result.difference = compare(run.oracle, trial.problem, i, right, result.outputs[i]);
    }
    result.error = result.violation    ? CallError::guard_zone
                   : result.input      ? CallError::input
                   : result.difference ? CallError::output
                                       : CallError::none;
}

/// Return whether at least one element of an array of counts is too large, and none is too small.
bool counts_too_much(const Array& expected, const Array& actual) {
    if (expected.type() != ElementType::uint32 || expected.count() < few_elements) return false;
    bool has_more = false;
    for (std::size_t i = 0; i < actual.count(); ++i) {
        if (value_at(actual, i) < value_at(expected, i)) return false;
        has_more = has_more || value_at(actual, i) > value_at(expected, i);
    }
    return has_more;
}

/// Examine the outputs of a call that was stopped while a kernel ran.
StoppedOutputs examine_outputs(const StageRun& run, const Buffers& buffers, const Problem& problem) {
    StoppedOutputs outcome = StoppedOutputs::right;
    for (std::size_t i = 0; i < run.lab.buffers.size(); ++i) {
        if (run.lab.buffers[i].role == Role::input) continue;
        const Array actual = buffers.read(i, 0);
        if (!compare(run.oracle, problem, i, problem.arrays[i], actual)) continue;
        if (!counts_too_much(problem.arrays[i], actual)) return StoppedOutputs::unfinished;
        outcome = StoppedOutputs::too_large;
    }
    return outcome;
}

/// If the outputs are correct, record the first reason to doubt the sanitizer's result.
void note_doubt(StageRun& run, const Buffers& buffers, const Trial& trial, const CallResult& result,
                const Observations& observed) {
    run.launch_digests.push_back(observed.launch_digest);
    if (run.sanitizer == Sanitizer::off || result.error != CallError::none || !run.doubt.empty()) return;
    const std::vector<Array> before = whole_contents(run.lab, trial, buffers);
    const CheckedCall call{trial.problem, before, result.outputs, trial.host_variant, run.session->findings_sent()};
    run.doubt = find_doubt(run.lab, run.oracle, call, observed);
}

/// Write the contents, make one call and compare its results. If the program ends, the session is over.
CallResult make_call(StageRun& run, Buffers& buffers, const Trial& trial) {
    write_contents(run.lab, buffers, trial);
    run.device.synchronise();
    protocol::Request request = make_request(protocol::Ask::run, trial.problem.sizes, trial.problem.reals);
    request.calls = 1;
    request.host_variant = trial.host_variant;
    request.thread_order = trial.thread_order;
    const std::uint64_t allowed = host_bytes_allowed(run, trial.problem);
    request.host_bytes_limit = trial.host_variant ? ~0ull : allowed;
    const Session::Reply reply =
        run.runner_session().ask(request, {}, time_limit_s(run, trial.problem), circumstances_of(run, trial.problem));
    const protocol::Answer& answer = reply.answer;
    CallResult result{CallError::no_answer, reply.failure, answer.host_bytes, answer.launches, answer.leaked_bytes};
    if (reply.failure && reply.failure->cause == cause::timeout && run.backend == Backend::cpu)
        result.stopped_outputs = examine_outputs(run, buffers, trial.problem);
    if (reply.failure) return result;
    result.error = CallError::copied_to_host;
    if (!trial.host_variant && answer.host_bytes > allowed) return result;
    compare_outputs(run, buffers, trial, result);
    note_doubt(run, buffers, trial, result, answer.observed);
    if (result.error != CallError::none) return result;
    if (answer.launches == 0 && needs_kernel(run.lab, trial.problem))
        result.error = CallError::no_kernel;
    else if (!trial.may_leak && answer.leaked_bytes > 0)
        result.error = CallError::leak;
    return result;
}

/// Return an element of an output that differs between two calls; NaN equals NaN.
std::optional<Difference> find_disagreement(const StageRun& run, const Problem& problem, const CallResult& a,
                                            const CallResult& b) {
    if (a.outputs.empty() || b.outputs.empty()) return std::nullopt;
    for (std::size_t i = 0; i < run.lab.buffers.size(); ++i) {
        if (run.lab.buffers[i].role == Role::input) continue;
        const auto difference = compare(run.oracle, problem, i, a.outputs[i], b.outputs[i]);
        if (!difference) continue;
        for (std::size_t at = difference->first; at <= difference->last; ++at) {
            const double first = value_at(a.outputs[i], at), second = value_at(b.outputs[i], at);
            if (!(std::isnan(first) && std::isnan(second)) && !run.oracle.accepts(problem, i, at, first, second))
                return Difference{i, 1, at, at};
        }
    }
    return std::nullopt;
}

/// Make the call again in both orders of threads, with fresh outputs.
Dependence repeat_in_both_orders(StageRun& run, Buffers& buffers, const Trial& trial) {
    using enum Dependence::On;
    const std::uint32_t early = run.runner_session().status().early_exits;
    const std::vector<Array> fresh = without_outputs(run.lab, trial.before);
    CallResult results[2];
    for (std::uint32_t order : {0u, 1u}) {
        results[order] =
            make_call(run, buffers,
                      {trial.problem, fresh, nullptr, order, trial.host_variant, true, Trial::Ready::poisoned_outputs});
        if (!run.session || !run.session->alive()) return {};
    }
    if (early > 0) return {early_return, early};
    auto& [first, second] = results;
    const auto place = find_disagreement(run, trial.problem, first, second);
    const bool any_wrong = first.error == CallError::output || second.error == CallError::output;
    if (place && any_wrong) return {thread_order, 0, *place, std::move(first.outputs), std::move(second.outputs)};
    if (trial.previous && first.error == CallError::none && second.error == CallError::none) return {previous_call};
    return {};
}

/// Return whether the answer is correct if the outputs hold zeros before the call. If they hold NaN, a sum with them is
/// NaN, too, and does not show what was added.
bool is_right_with_zeros(StageRun& run, Buffers& buffers, const Trial& trial, const Difference& difference) {
    const auto& [buffer, wrong, at, last] = difference;
    if (run.oracle.accepts(trial.problem, buffer, at, value_at(trial.problem.arrays[buffer], at), 0))
        return false;  // an untouched zero would pass
    std::vector<Array> zeros;
    for (const Array& array : trial.problem.arrays) zeros.emplace_back(array.type(), array.count());
    const auto before = with_outputs(run.lab, trial.before, zeros);
    const Trial with_zeros{trial.problem, before, nullptr, trial.thread_order, trial.host_variant, true};
    return make_call(run, buffers, with_zeros).error == CallError::none;
}

Dependence find_dependence(StageRun& run, Buffers& buffers, const Trial& trial, const Difference& difference,
                           const Failure& plain) {
    Dependence dependence;
    if (run.experimenting_s <= 0) return dependence;
    const ExplainingTime time(run.experimenting_s);
    if (is_unexplained(plain)) dependence = repeat_in_both_orders(run, buffers, trial);
    const bool may_be_added_to = plain.cause == cause::nan || plain.cause == cause::never_written;
    if (dependence.on == Dependence::On::unknown && may_be_added_to &&
        is_right_with_zeros(run, buffers, trial, difference))
        dependence.on = Dependence::On::old_contents;
    return dependence;
}

/// Make a call with the inputs of `problem`, and return its outputs.
std::optional<std::vector<Array>> make_experiment(StageRun& run, Buffers& buffers, const Problem& problem) {
    const Lab& lab = run.lab;
    if (run.experimenting_s <= 0 || !run.session || !run.session->alive()) return std::nullopt;
    buffers.poison_scratch();
    for (std::size_t i = 0; i < problem.arrays.size(); ++i)
        if (lab.buffers[i].role == Role::output)
            buffers.poison_whole(i);
        else
            buffers.write(i, 0, problem.arrays[i]);
    run.device.synchronise();
    protocol::Request request = make_request(protocol::Ask::run, problem.sizes, problem.reals);
    request.calls = 1;
    request.host_bytes_limit = host_bytes_allowed(run, problem);
    const Session::Reply reply = run.session->ask(request, {}, run.experimenting_s, circumstances_of(run, problem));
    if (reply.failure) return std::nullopt;
    std::vector<Array> outputs;
    for (std::size_t i = 0; i < problem.arrays.size(); ++i)
        outputs.push_back(lab.buffers[i].role == Role::input ? problem.arrays[i] : buffers.read(i, 0));
    return outputs;
}

/// Find out by calls with other inputs how the wrong output is computed. Return a description; empty if there is none.
/// If the program prints, make no such calls, because the student would also see what it prints in them. If the judge
/// will check the dataset again with fibers, that check makes the calls.
std::string investigate(StageRun& run, Buffers& buffers, const Trial& trial, const CallResult& result) {
    if (run.sanitizer != Sanitizer::off || run.make_fiber_runner || trial.host_variant) return "";
    if (!run.session || !run.session->output().empty()) return "";
    const Situation situation{trial.problem,           trial.before, result.outputs, trial.previous,
                              buffers.poison().beyond, run.stage.id};
    if (values_show_mistake(run.oracle, situation, *result.difference, buffers.poison().output)) return "";
    run.doing("making experiments to find the cause");
    const auto begin = std::chrono::steady_clock::now();
    const double max_s = run.experimenting_s;
    return run.oracle.investigate(situation, [&](const Problem& problem) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        run.experimenting_s = max_s - spent.count();
        return make_experiment(run, buffers, problem);
    });
}

}  // namespace

bool needs_kernel(const Lab& lab, const Problem& problem) {
    if (std::ranges::find(problem.sizes, 0) != problem.sizes.end()) return false;
    std::size_t max_written = 0, max_read = 0;
    bool reads = false;
    for (std::size_t i = 0; i < lab.buffers.size(); ++i) {
        const Role role = lab.buffers[i].role;
        reads = reads || role != Role::output;
        if (role != Role::output) max_read = std::max(max_read, problem.arrays[i].count());
        if (role != Role::input) max_written = std::max(max_written, problem.arrays[i].count());
    }
    return max_written > 0 && (!reads || max_read > 1);
}

std::vector<Array> fresh_contents(const Lab& lab, const Problem& generated) {
    std::vector<Array> before;
    for (std::size_t i = 0; i < generated.arrays.size(); ++i) {
        const Array& array = generated.arrays[i];
        switch (lab.buffers[i].role) {
            case Role::input:
                before.push_back(array);
                break;
            case Role::inout:
                before.push_back(array.clone());
                break;
            case Role::output:
                before.emplace_back();
                break;
        }
    }
    return before;
}

std::vector<Array> with_outputs(const Lab& lab, std::vector<Array> contents, const std::vector<Array>& outputs) {
    for (std::size_t i = 0; i < contents.size(); ++i)
        if (lab.buffers[i].role == Role::output) contents[i] = outputs[i];
    return contents;
}

JudgedCall judge_call(StageRun& run, Buffers& buffers, const Trial& original) {
    const Poison poison = buffers.poison();
    CallResult result = make_call(run, buffers, original);
    if (result.error == CallError::none) return {std::nullopt, std::move(result.outputs)};
    const std::vector<Array> before = whole_contents(run.lab, original, buffers);
    const Trial trial{.problem = original.problem,
                      .before = before,
                      .previous = original.previous,
                      .thread_order = original.thread_order,
                      .host_variant = original.host_variant,
                      .may_leak = original.may_leak,
                      .ready = original.ready};
    if (result.error != CallError::output) return {describe_failed_call(run, trial, result, poison), {}};
    Failure plain = explain_output(run, trial, result, poison);
    const Dependence dependence = find_dependence(run, buffers, trial, *result.difference, plain);
    // With wrong_result, the arrays are right, and only a number that the function computes from them is wrong.
    const bool may_vary_inputs = is_unexplained(plain) && plain.cause != cause::wrong_result;
    if (dependence.on == Dependence::On::unknown && may_vary_inputs)
        if (const std::string description = investigate(run, buffers, trial, result); !description.empty())
            plain = describe_experiments(plain, description);
    return {describe_wrong_output(run, trial, result, plain, dependence), {}};
}

}  // namespace warplab
