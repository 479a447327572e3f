#include "grader/judge/check/stage_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "grader/common/text.h"
#include "grader/model/cause.h"

namespace warplab {

Session& StageRun::runner_session() {
    if (session && !session->alive()) end_session();
    if (!session) {
        session = std::make_unique<Session>(runner, policy, tool, environment, sanitizer, trace);
        session->end_when(cancelled);
    }
    return *session;
}

void StageRun::switch_to_fibers() {
    const std::string printed = output;
    end_session();
    output = printed;
    const std::filesystem::path changed = std::exchange(make_fiber_runner, nullptr)();
    if (changed.empty()) return;
    runner = changed;
    policy.readable = {changed.parent_path()};
}

Session::Reply StageRun::wait_for_device() {
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
    const std::vector<RawFinding> new_findings = session->findings();
    findings.insert(findings.end(), new_findings.begin(), new_findings.end());
    guards.insert(page.guards, page.guards + std::min(page.guard_count, max_guards));
    if (has_uncollected_counts) collect_counts();
    calls_collected = 0;
    const Ended ended = session->finish();
    const std::size_t room = policy.limits.output_bytes - std::min(policy.limits.output_bytes, output.size());
    const std::size_t kept_bytes = std::min(room, ended.output.size());
    output.append(ended.output, 0, kept_bytes);
    if (ended.output_bytes > kept_bytes)
        output += fmt::format("\n... and {} more, which are omitted\n",
                              format_bytes(static_cast<double>(ended.output_bytes - kept_bytes)));
    session.reset();
}

void StageRun::collect_counts() {
    const StatusPage page = session->status();
    counts.insert(counts.end(), page.places, page.places + std::min(page.place_count, max_places));
    launches.insert(launches.end(), page.shapes, page.shapes + std::min(page.shape_count, max_shapes));
    calls += page.calls - calls_collected;
    calls_collected = page.calls;
    has_uncollected_counts = false;
}

std::uint64_t host_bytes_allowed(const StageRun& run, const Problem& problem) {
    const Stage& stage = run.stage;
    if (stage.host_bytes_per_iteration == 0) return stage.host_bytes_per_call;
    const auto iterations = static_cast<std::uint64_t>(run.oracle.cost(problem).iterations);
    return stage.host_bytes_per_call + stage.host_bytes_per_iteration * iterations;
}

double time_limit_s(const StageRun& run, const Problem& problem) {
    const double megabytes = static_cast<double>(Buffers::bytes_per_slot(problem, 0, 0)) * 1e-6;
    // A solver reads its data again in each iteration.
    const double repetitions = std::max(0.0, run.oracle.cost(problem).iterations - 1);
    const double slower = !run.tool.empty() ? 30 : run.sanitizer == Sanitizer::off ? 1 : 4;
    return slower * (run.backend == Backend::cuda ? 10 + megabytes * (1 + repetitions / 20) / 1000
                                                  : 5 + megabytes * (1 + repetitions / 4) / 20);
}

Prepared prepare(StageRun& run, const Problem& shape, bool host_variant) {
    protocol::Request request = make_request(protocol::Ask::prepare, shape.sizes, shape.reals);
    request.host_variant = host_variant;
    request.counts_requests = run.counts_requests;
    request.multiprocessors = run.multiprocessors;
    Session& session = run.runner_session();
    run.has_uncollected_counts = true;
    const Session::Reply reply = session.ask(request, {}, 20 * (run.tool.empty() ? 1 : 10));
    if (reply.failure) return {0, false, reply.failure, reply.judge_fault};
    const std::size_t requested = reply.answer.scratch_bytes;
    // Limit scratch, because the judge fills it before each call and does not charge this time to the submission.
    constexpr std::size_t always_allowed = 128 << 20;
    const std::size_t allowed = std::max(always_allowed, 4 * Buffers::bytes_per_slot(shape, 0, 0));
    if (requested > allowed)
        return {0, false,
                Failure{cause::out_of_memory,
                        fmt::format("{}_scratch_bytes asks for {}; at most {} are available for these sizes.",
                                    run.lab.name, format_bytes(static_cast<double>(requested)),
                                    format_bytes(static_cast<double>(allowed))),
                        "Is the size in bytes, and computed without overflow?"},
                false};
    return {requested, reply.answer.has_host != 0, std::nullopt, false};
}

std::optional<Failure> open_buffers(StageRun& run, const Problem& shape, const Buffers& buffers, bool host_variant) {
    protocol::Request request = make_request(protocol::Ask::open, shape.sizes, shape.reals);
    request.host_variant = host_variant;
    std::vector<int> descriptors;
    buffers.describe(request, descriptors);
    return run.runner_session().ask(request, descriptors, 30 * (run.tool.empty() ? 1 : 10)).failure;
}

}  // namespace warplab
