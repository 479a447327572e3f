#include "grader/judge/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>

#include "grader/common/text.h"
#include "grader/judge/check/diagnose.h"
#include "grader/judge/check/doubts.h"
#include "grader/judge/run/ending.h"
#include "grader/model/cause.h"

namespace warplab {
namespace {

constexpr std::size_t guard_bytes = 64 << 10;   // detects a block of 1024 threads that each write 16 bytes past the end
constexpr std::size_t small_bytes = 256 << 20;  // below this, the second call gets its own inputs
constexpr std::uint64_t other_inputs = 0x9e3779b97f4a7c15ull;

struct Outcome {
    std::optional<Failure> failure;
    std::vector<Array> outputs = {};  // contents after the call, one per buffer; empty if it did not end
    std::optional<Difference> difference = {};
};

/// One call to make and judge.
struct Trial {
    const Problem& problem;            // outputs hold the correct answer
    const std::vector<Array>& before;  // every buffer's contents before the call
    const Problem* previous = nullptr;
    std::uint32_t thread_order = 0;
    bool host_variant = false;
    bool may_leak = false;
    bool inputs_are_there = false;  // unchanged since the call before, which was checked
};

std::vector<Array> fresh_contents(const Lab& lab, const Problem& generated, std::uint32_t poison) {
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
                before.push_back(poisoned(array.type(), array.count(), poison));
                break;
        }
    }
    return before;
}

/// Return the same contents, with outputs as another call left them or filled with poison.
std::vector<Array> with_outputs(const Lab& lab, std::vector<Array> contents, const std::vector<Array>& outputs) {
    for (std::size_t i = 0; i < contents.size(); ++i)
        if (lab.buffers[i].role == Role::output) contents[i] = outputs[i];
    return contents;
}

void write_contents(Buffers& buffers, const Trial& trial) {
    for (std::size_t i = 0; i < trial.before.size(); ++i)
        if (buffers.is_output(i) || !trial.inputs_are_there) buffers.write(i, 0, trial.before[i]);
}

std::optional<Failure> find_modified_input(const Lab& lab, const Buffers& buffers, const Problem& problem) {
    for (std::size_t i = 0; i < lab.buffers.size(); ++i) {
        if (lab.buffers[i].role != Role::input) continue;
        const Array& was = problem.arrays[i];
        const auto changed = buffers.first_change(i, 0, was);
        if (!changed) continue;
        const std::string before = element_text(was, *changed);
        const std::string now = element_text(buffers.read_part(i, 0, *changed, 1), 0);
        return Failure{cause::input_modified,
                       fmt::format("The input {} was overwritten: {}[{}] was {} and is {} after the call.",
                                   lab.buffers[i].name, lab.buffers[i].name, format_count(*changed), before, now),
                       "Inputs are const: write results to the output buffer only.",
                       Place{lab.buffers[i].name, *changed, before, now}};
    }
    return std::nullopt;
}

/// Return the hint about work on the host; if the stage copies something in each iteration, the likelier reason comes
/// first.
std::string host_work_hint(const Stage& stage) {
    if (stage.host_bytes_per_iteration == 0)
        return "The computation belongs on the device: only what the stage allows may come back to the host.";
    return fmt::format(
        "Does the loop end after the last iteration that was asked for, and does each count? If so, too much is "
        "copied: the stage allows {} an iteration.",
        format_bytes(static_cast<double>(stage.host_bytes_per_iteration)));
}

/// Add to a launch error what the sizes imply.
Failure explain_reply(const StageRun& run, const Problem& problem, Failure failure, int cuda_error) {
    constexpr int illegal_address = 700;
    if (failure.cause == cause::host_work) failure.hint = host_work_hint(run.stage);
    if (failure.cause != cause::cuda_error) return failure;
    const auto says = [&](const char* name) { return failure.message.find(name) != std::string::npos; };
    const auto zero = std::find(problem.sizes.begin(), problem.sizes.end(), 0);
    const bool nothing_to_do = zero != problem.sizes.end();
    // Since CUDA 13, an empty grid is an invalid value.
    if (says("cudaErrorInvalidConfiguration") || (nothing_to_do && says("cudaErrorInvalidValue"))) {
        failure.cause = cause::launch_failed;
        failure.hint =
            nothing_to_do
                ? fmt::format(
                      "{} is 0 here, and a grid of 0 blocks is an error: return early when there is nothing to do.",
                      run.lab.sizes[static_cast<std::size_t>(zero - problem.sizes.begin())])
                : "A launch needs 1 to 1024 threads a block, at least one block, and at most 48 KB of shared memory "
                  "unless more is asked for.";
    } else if (cuda_error == illegal_address) {
        failure.hint =
            "A thread read or wrote an address that belongs to nothing: is the index checked against the size? "
            "`make sanitize` names the line.";
    }
    return failure;
}

Failure too_much_copied(const Stage& stage, std::uint64_t bytes, std::uint64_t allowed) {
    return {cause::host_work,
            fmt::format("A call copied {} from the device to the host; this stage allows {}.",
                        format_bytes(static_cast<double>(bytes)),
                        allowed ? format_bytes(static_cast<double>(allowed)) : "nothing"),
            host_work_hint(stage),
            {}};
}

Failure leaked(std::int64_t bytes, bool host_variant) {
    return {cause::leak,
            fmt::format("{} leaves {} of device memory allocated.", host_variant ? "The host function" : "Every call",
                        format_bytes(static_cast<double>(bytes))),
            "Each cudaMalloc needs its cudaFree, on every way out of the function.",
            {}};
}

/// Whether the correct answer requires a kernel: there is something to write, and more to read than a copy of one
/// element.
bool needs_kernel(const Lab& lab, const Problem& problem) {
    if (std::find(problem.sizes.begin(), problem.sizes.end(), 0) != problem.sizes.end()) return false;
    std::size_t most_written = 0, most_read = 0;
    bool reads = false;
    for (std::size_t i = 0; i < lab.buffers.size(); ++i) {
        const Role role = lab.buffers[i].role;
        reads = reads || role != Role::output;
        if (role != Role::output) most_read = std::max(most_read, problem.arrays[i].count());
        if (role != Role::input) most_written = std::max(most_written, problem.arrays[i].count());
    }
    return most_written > 0 && (!reads || most_read > 1);
}

Failure not_launched(bool unwritten, const Failure& found) {
    return {cause::not_launched,
            fmt::format("No kernel was launched, and the output is {}.", unwritten ? "not written" : "wrong"),
            "Launch your kernel with <<<blocks, threads>>> in the contract function.", found.place};
}

/// Explain a guard violation by the mistake that explains the outputs, if that mistake writes past the end: rows that
/// are too far apart. With any other mistake, the outputs may be a consequence of the violation.
Failure explain_damage_by_outputs(const StageRun& run, const Situation& situation, const Damage& damage,
                                  const std::optional<Difference>& difference, std::uint32_t poison) {
    Failure failure = explain_damage(run.lab, damage);
    const auto is_output = [&](const BufferSpec& b) { return b.name == damage.buffer && b.role == Role::output; };
    if (!difference || std::none_of(run.lab.buffers.begin(), run.lab.buffers.end(), is_output)) return failure;
    const Failure explained = explain_difference(run.lab, run.oracle, situation, *difference, poison);
    if (explained.cause != cause::wrong_pitch) return failure;
    return {explained.cause, failure.message + " " + explained.message, explained.hint, explained.place};
}

Outcome judge_outputs(StageRun& run, const Buffers& buffers, const Trial& trial, std::uint64_t launches) {
    Outcome outcome;
    const std::uint32_t poison = buffers.poison().output;
    const auto damage = buffers.find_damage(0);
    if (!damage) outcome.failure = find_modified_input(run.lab, buffers, trial.problem);
    for (std::size_t i = 0; i < run.lab.buffers.size(); ++i)
        outcome.outputs.push_back(run.lab.buffers[i].role == Role::input ? trial.problem.arrays[i]
                                                                         : buffers.read(i, 0));
    if (outcome.failure) return outcome;
    std::optional<Difference> difference;
    for (std::size_t i = 0; i < run.lab.buffers.size() && !difference; ++i)
        if (run.lab.buffers[i].role != Role::input)
            difference = compare(run.oracle, trial.problem, i, trial.problem.arrays[i], outcome.outputs[i]);
    const Situation situation{trial.problem,           trial.before, outcome.outputs, trial.previous,
                              buffers.poison().beyond, run.stage.id};
    if (damage) {
        outcome.failure = explain_damage_by_outputs(run, situation, *damage, difference, poison);
        return outcome;
    }
    outcome.difference = difference;
    if (!difference) return outcome;
    outcome.failure = explain_difference(run.lab, run.oracle, situation, *difference, poison);
    const bool unwritten = outcome.failure->cause == cause::never_written;
    const bool unexplained = outcome.failure->cause == cause::wrong_value && needs_kernel(run.lab, trial.problem);
    if (launches == 0 && (unwritten || unexplained)) outcome.failure = not_launched(unwritten, *outcome.failure);
    return outcome;
}

Failure answered_without_kernel(bool host_variant) {
    return {cause::not_launched,
            fmt::format("The output is right, but {} launched no kernel: it was computed on the host, or only copied.",
                        host_variant ? "the host function" : "the call"),
            "The work belongs into a kernel that is launched with <<<blocks, threads>>>.",
            {}};
}

/// Compare the runner's account of a call with the judge's own knowledge, if the outputs are correct.
void note_evidence(StageRun& run, const Trial& trial, const Outcome& outcome, const Observed& observed) {
    run.launch_digests.push_back(observed.launch_digest);
    if (run.sanitizer == Sanitizer::off || outcome.failure || !run.doubt.empty()) return;
    const Evidence evidence{trial.problem, trial.before, outcome.outputs, trial.host_variant,
                            run.session->findings_sent()};
    run.doubt = find_doubt(run.lab, run.oracle, evidence, observed);
}

/// Write the contents, make one call and judge its results. After a failure the session is over.
Outcome try_call(StageRun& run, Buffers& buffers, const Trial& trial) {
    buffers.poison_all();
    write_contents(buffers, trial);
    run.device.synchronize();
    protocol::Request request = make_request(protocol::Ask::run, trial.problem.sizes, trial.problem.reals);
    request.calls = 1;
    request.host_variant = trial.host_variant;
    request.thread_order = trial.thread_order;
    const std::uint64_t allowed = host_bytes_allowed(run, trial.problem);
    request.host_bytes_limit = trial.host_variant ? ~0ull : allowed;
    const Session::Reply reply = run.runner_session().ask(request, {}, time_limit_s(run, trial.problem));
    Outcome outcome;
    if (reply.failure) {
        outcome.failure = explain_reply(run, trial.problem, *reply.failure, reply.answer.cuda_error);
    } else if (!trial.host_variant && reply.answer.host_bytes > allowed) {
        outcome.failure = too_much_copied(run.stage, reply.answer.host_bytes, allowed);
    } else {
        outcome = judge_outputs(run, buffers, trial, reply.answer.launches);
        note_evidence(run, trial, outcome, reply.answer.observed);
        if (!outcome.failure && reply.answer.launches == 0 && needs_kernel(run.lab, trial.problem))
            outcome.failure = answered_without_kernel(trial.host_variant);
        if (!outcome.failure && !trial.may_leak && reply.answer.leaked_bytes > 0)
            outcome.failure = leaked(reply.answer.leaked_bytes, trial.host_variant);
    }
    return outcome;
}

/// Return an element of an output that differs between two outcomes; NaN equals NaN.
std::optional<Difference> disagreement(const StageRun& run, const Problem& problem, const Outcome& a,
                                       const Outcome& b) {
    if (a.outputs.empty() || b.outputs.empty()) return std::nullopt;
    for (std::size_t i = 0; i < run.lab.buffers.size(); ++i) {
        if (run.lab.buffers[i].role == Role::input) continue;
        const auto difference = compare(run.oracle, problem, i, a.outputs[i], b.outputs[i]);
        if (!difference) continue;
        for (std::size_t at = difference->first; at <= difference->last; ++at) {
            const double one = value_at(a.outputs[i], at), other = value_at(b.outputs[i], at);
            if (!(std::isnan(one) && std::isnan(other)) && !run.oracle.accepts(problem, i, at, one, other))
                return Difference{i, 1, at, at};
        }
    }
    return std::nullopt;
}

Failure race_failure(const StageRun& run, const Trial& trial, const Difference& place, const Outcome& a,
                     const Outcome& b) {
    const Array &one = a.outputs[place.buffer], &other = b.outputs[place.buffer];
    const Array& right = trial.problem.arrays[place.buffer];
    const bool one_is_right = run.oracle.accepts(trial.problem, place.buffer, place.first, value_at(right, place.first),
                                                 value_at(one, place.first));
    return {
        cause::race,
        fmt::format("The result depends on the order of the threads: with the same input {}[{}] is {} when they "
                    "start in one order and {} in another; right is {}.",
                    run.lab.buffers[place.buffer].name, format_count(place.first), element_text(one, place.first),
                    element_text(other, place.first), element_text(right, place.first)),
        "Do threads use one place without an atomic, or without a __syncthreads() between writing and reading? (That "
        "is for one block: for all, it takes another launch.) Or is an index out of its array, or a variable never "
        "set? `make inspect` names lines.",
        place_of(run.lab, place, right, one_is_right ? other : one)};
}

/// For a wrong value that no hypothesis explains, test whether it depends on the order of threads or on the call
/// before.
Failure look_closer(StageRun& run, Buffers& buffers, const Trial& trial, const Outcome& first) {
    const std::uint32_t early = run.runner_session().status().early_exits;
    const std::vector<Array> fresh =
        with_outputs(run.lab, trial.before, fresh_contents(run.lab, trial.problem, buffers.poison().output));
    Outcome runs[2];
    for (std::uint32_t order : {0u, 1u}) {
        runs[order] = try_call(run, buffers, {trial.problem, fresh, nullptr, order, trial.host_variant, true});
        if (!run.session || !run.session->alive()) return *first.failure;
    }
    if (early > 0) {
        Failure failure = *first.failure;
        failure.cause = cause::return_before_barrier;
        failure.message += fmt::format(
            " In {} block{}, threads had returned without reaching a __syncthreads() at which others waited.", early,
            early == 1 ? "" : "s");
        failure.hint =
            "A barrier is for all threads of the block. It must not stand inside an if that only some of them enter, "
            "such as if (threadIdx.x == 0); and threads beyond the end must not return before it: let them take part "
            "with a neutral value.";
        return failure;
    }
    const auto place = disagreement(run, trial.problem, runs[0], runs[1]);
    if (place && (runs[0].difference || runs[1].difference)) return race_failure(run, trial, *place, runs[0], runs[1]);
    if (trial.previous && !runs[0].failure && !runs[1].failure) {
        Failure failure = *first.failure;
        failure.cause = cause::kept_state;
        failure.message = "Right in the first call, wrong in the second: " + failure.message;
        failure.hint =
            "Something is kept from one call to the next: an output, a counter or scratch memory that is not cleared.";
        return failure;
    }
    return *first.failure;
}

/// NaN plus anything is NaN, so the outputs do not show what was added to them: test whether the answer is correct if
/// they hold zeros.
std::optional<Failure> try_zeros(StageRun& run, Buffers& buffers, const Trial& trial, const Outcome& first) {
    const auto& [buffer, wrong, at, last] = *first.difference;
    if (run.oracle.accepts(trial.problem, buffer, at, value_at(trial.problem.arrays[buffer], at), 0))
        return std::nullopt;  // an untouched zero would pass
    std::vector<Array> zeros;
    for (const Array& array : trial.before) zeros.emplace_back(array.type(), array.count());
    const auto before = with_outputs(run.lab, trial.before, zeros);
    const Outcome outcome =
        try_call(run, buffers, {trial.problem, before, nullptr, trial.thread_order, trial.host_variant, true});
    if (outcome.failure) return std::nullopt;
    const std::string& name = run.lab.buffers[buffer].name;
    return Failure{
        cause::added_to_garbage,
        fmt::format("{} is right only if it holds zeros before the call: the result is added to that.", name),
        fmt::format("{} holds garbage before the call: assign with =, not +=, or set it to 0 first.", name),
        first.failure->place};
}

bool unexplained(const Failure& failure) { return failure.cause == cause::wrong_value || failure.cause == cause::nan; }

Outcome judge_call(StageRun& run, Buffers& buffers, const Trial& trial) {
    Outcome outcome = try_call(run, buffers, trial);
    if (!outcome.failure || !outcome.difference) return outcome;
    if (unexplained(*outcome.failure)) outcome.failure = look_closer(run, buffers, trial, outcome);
    if (outcome.failure->cause == cause::nan || outcome.failure->cause == cause::never_written)
        if (auto failure = try_zeros(run, buffers, trial, outcome)) outcome.failure = failure;
    return outcome;
}

struct Judged {
    std::optional<Failure> failure;
    bool has_host = false;
};

/// Make two calls in one process: fresh outputs, then stale ones with other inputs and the other thread order.
Judged judge_calls(StageRun& run, const Dataset& dataset, Problem& first, bool host_variant) {
    Problem second = first;
    const bool own_inputs = Buffers::bytes_per_slot(first, 0, 0) < small_bytes;
    if (own_inputs) second = run.oracle.generate(dataset, dataset.seed ^ other_inputs, 0);
    const Poison poison = Poison::draw(dataset.seed + host_variant);

    if (run.backend == Backend::cuda)
        if (const Session::Reply reply = run.greet(); reply.failure) return {reply.failure, false};
    const Prepared prepared = prepare(run, first, host_variant);
    if (prepared.failure) return {prepared.failure, false};
    if (host_variant && !prepared.has_host) return {std::nullopt, false};
    Memory& memory = host_variant ? run.host : run.device;
    Buffers buffers(memory, run.lab, first, prepared.scratch_bytes, 1, run.tool.empty() ? guard_bytes : 0, poison);
    if (auto failure = open_buffers(run, first, buffers, host_variant)) return {failure, prepared.has_host};

    const std::vector<Array> fresh = fresh_contents(run.lab, first, poison.output);
    const std::vector<Array> next_fresh = own_inputs ? fresh_contents(run.lab, second, poison.output) : fresh;
    run.answers->solve(run.oracle, run.lab, dataset, dataset.seed, first);
    const Outcome opening = judge_call(run, buffers, {first, fresh, nullptr, 0, host_variant, !host_variant});
    if (opening.failure) return {opening.failure, prepared.has_host};

    if (own_inputs) run.answers->solve(run.oracle, run.lab, dataset, dataset.seed ^ other_inputs, second);
    const std::vector<Array> stale = with_outputs(run.lab, next_fresh, opening.outputs);
    const Outcome again =
        judge_call(run, buffers, {own_inputs ? second : first, stale, &first, 1, host_variant, false, !own_inputs});
    return {again.failure, prepared.has_host};
}

/// Whether there is nothing to compute: no output elements, or no elements in any of the inputs.
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
Judged judge_dataset(StageRun& run, const Dataset& dataset, Problem& problem) {
    Judged judged = judge_calls(run, dataset, problem, false);
    if (judged.failure || !run.stage.host_variant || dataset.uses.cuda_only || !run.tool.empty()) return judged;
    if (!judged.has_host)
        return {Failure{cause::missing_function,
                        fmt::format("{}_host is not defined; this stage asks for it.", run.lab.name),
                        fmt::format("Its signature is in labs/{}/lab.h: allocate, copy in, call, copy back, free.",
                                    run.lab.name),
                        {}},
                false};
    Problem again = run.oracle.generate(dataset, dataset.seed, 0);
    judged = judge_calls(run, dataset, again, true);
    if (judged.failure) judged.failure->message = fmt::format("In {}_host: {}", run.lab.name, judged.failure->message);
    return judged;
}

Failure internal_error(const std::string& what) {
    return {cause::internal, fmt::format("The judge could not check this dataset: {}.", what), "", {}};
}

/// Run check_dataset() without the reference.
Check check_once(StageRun& run, const Dataset& dataset) {
    const auto begin = std::chrono::steady_clock::now();
    Check check;
    check.dataset = dataset.name;
    check.hidden = dataset.uses.hidden;
    check.points = dataset.points;
    try {
        Problem problem = run.oracle.generate(dataset, dataset.seed, 0);
        check.empty = is_empty(run.lab, problem);
        const Judged judged = judge_dataset(run, dataset, problem);
        check.failure = judged.failure;
        check.verdict = !judged.failure                ? Verdict::passed
                        : can_be_ours(*judged.failure) ? Verdict::error
                                                       : Verdict::failed;
    } catch (const OutOfMemory& error) {
        check.skipped_why = fmt::format("does not fit on this machine: {}", error.what());
    } catch (const std::bad_alloc&) {
        check.skipped_why = "does not fit in this machine's memory";
    } catch (const ManifestError&) {
        throw;
    } catch (const std::exception& error) {
        check.failure = internal_error(error.what());
    }
    check.skipped = !check.skipped_why.empty();
    if (check.skipped || check.failure)
        run.end_session();
    else if (run.uncollected)
        run.collect_counts();
    check.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return check;
}

bool is_undecided(const Check& check) { return check.skipped || check.verdict == Verdict::error; }

/// Check the reference while no other program is alive. A GPU may release a killed program's memory late.
Check check_reference(StageRun& reference, const Dataset& dataset) {
    Check check = check_once(reference, dataset);
    for (int again = 0; again < 3 && check.skipped && reference.backend == Backend::cuda; ++again) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        check = check_once(reference, dataset);
    }
    reference.end_session();
    return check;
}

/// Return the failure of a program whose reference gets further.
Failure fault_of_program(const Check& check) {
    if (check.skipped)
        return {cause::out_of_memory,
                fmt::format("This dataset {}, but only while this program runs; it fits with the reference.",
                            check.skipped_why),
                "Is memory allocated before the call and never freed? Does _scratch_bytes ask for more than it needs?",
                {}};
    return blame_program(*check.failure);
}

/// Decide an undecided check: run the reference to find out which side is at fault.
Check confirm(StageRun& run, const Dataset& dataset, Check check) {
    const std::unique_ptr<StageRun> reference = run.reference ? run.reference() : nullptr;
    if (!reference) return check;
    const Check other = check_reference(*reference, dataset);
    if (!is_undecided(other)) {
        check.failure = fault_of_program(check);
        check.verdict = Verdict::failed;
        check.skipped = false;
        check.skipped_why.clear();
        return check;
    }
    if (!other.failure) return check.skipped ? check : other;
    check.failure = other.failure;
    check.failure->message = "The stage's reference cannot be checked here either: " + check.failure->message;
    check.failure->hint = "This is not the student's fault.";
    check.skipped = false;
    check.skipped_why.clear();
    return check;
}

}  // namespace

Session& StageRun::runner_session() {
    if (session && !session->alive()) end_session();
    if (!session) session = std::make_unique<Session>(runner, policy, tool, environment, sanitizer);
    return *session;
}

void StageRun::change_to_fibers() {
    const std::string printed = output;
    end_session();
    output = printed;
    const std::filesystem::path changed = std::exchange(by_fibers, nullptr)();
    if (changed.empty()) return;
    runner = changed;
    policy.readable = {changed.parent_path()};
}

Session::Reply StageRun::greet() {
    constexpr double limit_s = 30;
    const auto ask = [&] { return runner_session().ask(make_request(protocol::Ask::hello), {}, limit_s); };
    const Session::Reply reply = ask();
    if (!reply.failure || !session->alive()) return reply;
    end_session();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return ask();
}

void StageRun::end_session() {
    if (!session) return;
    if (tool.empty()) session->kill();  // tools write their output at the end
    const StatusPage page = session->status();
    const std::vector<RawFinding> found = session->findings();
    findings.insert(findings.end(), found.begin(), found.end());
    guards.insert(page.guards, page.guards + std::min(page.guard_count, most_guards));
    if (uncollected) collect_counts();
    calls_collected = 0;
    const Ended ended = session->finish();
    const std::size_t room = policy.limits.output_bytes - std::min(policy.limits.output_bytes, output.size());
    const std::size_t kept = std::min(room, ended.output.size());
    output.append(ended.output, 0, kept);
    if (ended.output_bytes > kept)
        output += fmt::format("\n... and {} more, which are not kept\n",
                              format_bytes(static_cast<double>(ended.output_bytes - kept)));
    session.reset();
}

void StageRun::collect_counts() {
    const StatusPage page = session->status();
    counts.insert(counts.end(), page.places, page.places + std::min(page.place_count, most_places));
    launches.insert(launches.end(), page.shapes, page.shapes + std::min(page.shape_count, most_shapes));
    calls += page.calls - calls_collected;
    calls_collected = page.calls;
    uncollected = false;
}

std::uint64_t host_bytes_allowed(const StageRun& run, const Problem& problem) {
    const Stage& stage = run.stage;
    if (stage.host_bytes_per_iteration == 0) return stage.host_bytes_per_call;
    const auto iterations = static_cast<std::uint64_t>(run.oracle.cost(problem).iterations);
    return stage.host_bytes_per_call + stage.host_bytes_per_iteration * iterations;
}

double time_limit_s(const StageRun& run, const Problem& problem) {
    const double megabytes = static_cast<double>(Buffers::bytes_per_slot(problem, 0, 0)) * 1e-6;
    const double again = std::max(0.0, run.oracle.cost(problem).iterations - 1);  // a solver reads them many times
    const double slower = !run.tool.empty() ? 30 : run.sanitizer == Sanitizer::off ? 1 : 4;
    return slower * (run.backend == Backend::cuda ? 10 + megabytes * (1 + again / 20) / 1000
                                                  : 5 + megabytes * (1 + again / 4) / 20);
}

Prepared prepare(StageRun& run, const Problem& shape, bool host_variant) {
    protocol::Request request = make_request(protocol::Ask::prepare, shape.sizes, shape.reals);
    request.host_variant = host_variant;
    Session& session = run.runner_session();
    run.uncollected = true;
    const Session::Reply reply = session.ask(request, {}, 20 * (run.tool.empty() ? 1 : 10));
    if (reply.failure) return {0, false, reply.failure, reply.ours};
    const std::size_t wanted = reply.answer.scratch_bytes;
    const std::size_t allowed = std::max<std::size_t>(1ull << 30, 4 * Buffers::bytes_per_slot(shape, 0, 0));
    if (wanted > allowed)
        return {
            0, false,
            Failure{cause::out_of_memory,
                    fmt::format("{}_scratch_bytes asks for {}; at most {} are given for these sizes.", run.lab.name,
                                format_bytes(static_cast<double>(wanted)), format_bytes(static_cast<double>(allowed))),
                    "Is the size in bytes, and computed without overflow?",
                    {}},
            false};
    return {wanted, reply.answer.has_host != 0, std::nullopt, false};
}

std::optional<Failure> open_buffers(StageRun& run, const Problem& shape, const Buffers& buffers, bool host_variant) {
    protocol::Request request = make_request(protocol::Ask::open, shape.sizes, shape.reals);
    request.host_variant = host_variant;
    std::vector<int> descriptors;
    buffers.describe(request, descriptors);
    return run.runner_session().ask(request, descriptors, 30 * (run.tool.empty() ? 1 : 10)).failure;
}

std::string why_not_here(const StageRun& run, const Dataset& dataset) {
    if (dataset.uses.cuda_only && run.backend == Backend::cpu) return "needs a GPU: too large for the CPU backend";
    return "";
}

Check check_dataset(StageRun& run, const Dataset& dataset) {
    if (const std::string why = why_not_here(run, dataset); !why.empty())
        return {dataset.name, dataset.uses.hidden, dataset.points, Verdict::error, true, why, std::nullopt, 0};
    const Check check = check_once(run, dataset);
    return is_undecided(check) ? confirm(run, dataset, check) : check;
}

}  // namespace warplab
