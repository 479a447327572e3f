#include "grader/judge/predict/predict.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <future>
#include <map>
#include <random>
#include <stdexcept>

#include "grader/common/read_file.h"
#include "grader/judge/check/call.h"
#include "grader/judge/predict/conditions.h"
#include "grader/judge/predict/effort.h"

namespace warplab::predict {
namespace {

/// The memory file that the runner writes its trace into.
class TraceMemory {
  public:
    TraceMemory() : file_(memfd_create("warplab-trace", MFD_CLOEXEC)) {
        if (!file_ || ftruncate(file_.get(), trace::max_bytes) != 0)
            throw std::runtime_error(fmt::format("cannot create a memory file: {}", std::strerror(errno)));
    }
    int file() const { return file_.get(); }
    /// Return a copy of the written part, from the beginning of the file.
    std::string contents() const {
        struct stat written {};
        fstat(file_.get(), &written);
        constexpr std::size_t block_bytes = 512;  // the unit of st_blocks
        std::string all(std::min(trace::max_bytes, static_cast<std::size_t>(written.st_blocks) * block_bytes), '\0');
        std::size_t bytes_read = 0;
        for (ssize_t count;
             bytes_read < all.size() && (count = pread(file_.get(), all.data() + bytes_read, all.size() - bytes_read,
                                                       static_cast<off_t>(bytes_read))) > 0;)
            bytes_read += static_cast<std::size_t>(count);
        all.resize(bytes_read);
        return all;
    }

  private:
    Descriptor file_;
};

constexpr unsigned max_calls_before = 4;   // so that a program cannot know which call is traced
constexpr std::uint32_t max_attempts = 3;  // attempts to draw blocks that represent the others

/// Make calls with the dataset's inputs. Their outputs are not checked, because only some blocks run.
std::optional<Failure> make_calls(StageRun& run, const Problem& problem, std::uint64_t calls) {
    if (const Session::Reply reply = run.wait_for_device(); reply.failure) return reply.failure;
    const Prepared prepared = prepare(run, problem);
    if (prepared.failure) return prepared.failure;
    constexpr std::size_t guard_bytes = 4096;
    Buffers buffers(run.device, run.lab, problem, prepared.scratch_bytes, 1, guard_bytes, Poison::draw(1));
    if (auto failure = open_buffers(run, problem, buffers)) return failure;
    for (std::size_t i = 0; i < run.lab.buffers.size(); ++i)
        if (run.lab.buffers[i].role != Role::output) buffers.write(i, 0, problem.arrays[i]);
    protocol::Request request = make_request(protocol::Ask::run, problem.sizes, problem.reals);
    request.calls = 1;
    request.host_bytes_limit = ~0ull;
    for (std::uint64_t i = 0; i < calls; ++i)
        if (auto failure = run.runner_session().ask(request, {}, time_limit_s(run, problem)).failure) return failure;
    return std::nullopt;
}

/// Return the registers that nvcc allocates to each kernel for the machine or, if this nvcc does not support it, for
/// compute capability 9.0; empty without nvcc.
std::map<std::string, int> registers_of(Judge& judge, const Lab& lab, const Stage& stage, const Source& source,
                                        const Machine& machine) {
    std::map<std::string, int> registers;
    for (const std::string& architecture : {machine.architecture, std::string("sm_90")}) {
        for (const auto& [kernel, resources] : judge.resources(lab, stage, source, architecture))
            registers[kernel] = resources.registers;
        if (!registers.empty()) break;
    }
    return registers;
}

Limit find_limit(const CallTime& time) {
    constexpr double min_busy = 0.5;
    const KernelTime* slowest = nullptr;
    double longest_s = 0;
    for (const auto& [name, kernel] : time.kernels)
        if (kernel.seconds > longest_s) longest_s = kernel.seconds, slowest = &kernel.last;
    if (!slowest || slowest->clocks <= 0) return {};
    const auto busiest = static_cast<std::size_t>(std::ranges::max_element(slowest->busy) - slowest->busy.begin());
    Limit limit;
    limit.blocks_at_once = slowest->blocks_at_once;
    limit.threads_per_block = slowest->threads_per_block;
    limit.busy = std::min(1.0, slowest->busy[busiest] / slowest->clocks);
    if (limit.busy >= min_busy) limit.resource = static_cast<Resource>(busiest);
    double max_busy = 0;
    for (const auto& [line, busy] : slowest->busy_of_line)
        if (busy[busiest] > max_busy) max_busy = busy[busiest], limit.line = line;
    return limit;
}

/// Return the line with the largest share of the part; 0 if none is known.
int line_of(const std::map<int, double>& shares) {
    int found = 0;
    double most = 0;
    for (const auto& [line, share] : shares)
        if (line > 0 && share > most) most = share, found = line;
    return found;
}

std::vector<Part> find_parts(const CallTime& time) {
    std::array<std::map<int, double>, resource_count> busy_of_line;
    std::map<int, double> waiting_of_line;
    Busy busy = {};
    double waiting = 0;
    for (const auto& [name, kernel] : time.kernels) {
        const KernelTime& last = kernel.last;
        if (last.clocks <= 0) continue;
        const double scale = kernel.seconds / time.seconds / last.clocks;  // from clocks to a share of the call
        for (std::size_t i = 0; i < resource_count; ++i) busy[i] += std::min(last.busy[i], last.clocks) * scale;
        const double idle = std::max(0.0, last.clocks - *std::ranges::max_element(last.busy));
        waiting += idle * scale;
        for (const auto& [line, clocks] : last.busy_of_line)
            for (std::size_t i = 0; i < resource_count; ++i) busy_of_line[i][line] += clocks[i] * scale;
        for (const auto& [line, clocks] : last.clocks_of_line)
            waiting_of_line[line] += clocks * idle / last.clocks * scale;
    }
    std::vector<Part> parts = {{std::nullopt, waiting, line_of(waiting_of_line)}};
    for (std::size_t i = 0; i < resource_count; ++i)
        parts.push_back({static_cast<Resource>(i), busy[i], line_of(busy_of_line[i])});
    std::ranges::sort(parts, std::greater<>(), &Part::share);
    return parts;
}

std::map<Change, double> shares_wasted(const CallTime& time) {
    std::map<Change, double> shares;
    for (const auto& [name, kernel] : time.kernels)
        for (const auto& [change, clocks] : kernel.last.wasted)
            if (kernel.last.clocks > 0)
                shares[change] += clocks / kernel.last.clocks * kernel.seconds / time.kernel_seconds;
    return shares;
}

std::map<int, double> shares_of_lines(const CallTime& time) {
    std::map<int, double> shares;
    for (const auto& [name, kernel] : time.kernels) {
        double all = 0;
        for (const auto& [line, clocks] : kernel.last.clocks_of_line) all += clocks;
        for (const auto& [line, clocks] : kernel.last.clocks_of_line)
            if (all > 0) shares[line] += clocks / all * kernel.seconds / time.kernel_seconds;
    }
    return shares;
}

/// Return why the sampled blocks do not represent all blocks; empty if they do. Short blocks matter if there are many.
std::string why_not_typical(const Trace& trace, const Machine& machine) {
    constexpr double max_of_a_block = 8, max_on_average = 2, min_steps = 4096;
    for (const TracedLaunch& launch : trace.launches) {
        const trace::LaunchEnds& sample = trace.launches[launch.same_as].ends;
        const trace::LaunchEnds& ends = launch.ends;
        if (sample.recorded_blocks == 0 || ends.other_blocks == 0) continue;
        const double typical = static_cast<double>(sample.recorded_steps) / static_cast<double>(sample.recorded_blocks);
        const double average = static_cast<double>(ends.other_steps) / static_cast<double>(ends.other_blocks);
        const auto max_steps = static_cast<double>(ends.max_steps);
        const double of_a_multiprocessor = average * static_cast<double>(launch.blocks) / machine.multiprocessors;
        if ((max_steps > min_steps && max_steps > max_of_a_block * typical) ||
            (std::max(max_steps, of_a_multiprocessor) > min_steps && average > max_on_average * typical))
            return fmt::format("blocks of {} do very different amounts of work, so a sample does not represent them",
                               launch.kernel);
    }
    return "";
}

/// Return whether the sampled blocks, with their weights, do on average as much as all blocks that ran, and no block
/// has most of the weight.
bool represents_all(const TracedLaunch& launch) {
    constexpr double tolerance = 0.1;
    double weighted = 0, plain = 0, most = 0;
    for (const TracedBlock& block : launch.sampled) {
        weighted += block.weight * static_cast<double>(block.events);
        plain += static_cast<double>(block.events);
        most = std::max(most, block.weight);
    }
    const auto blocks = static_cast<double>(launch.sampled.size());
    return plain == 0 || (std::abs(weighted / plain / relative_work(launch.ends) - 1) < tolerance &&
                          (blocks < 3 || most <= blocks / 2));
}

/// Return the machine with as many resident blocks as its threads allow.
Machine with_full_occupancy(Machine machine) {
    constexpr int ample = 1 << 30;
    machine.blocks = machine.registers = ample;
    machine.shared_bytes = ample;
    return machine;
}

Recording no_recording(const std::string& reason, const std::optional<Failure>& failure) {
    return {.why_not = failure ? fmt::format("{} ({})", reason, failure->message) : reason};
}

}  // namespace

Recording record(Judge& judge, const Lab& lab, const Stage& stage, const Source& source, const Problem& problem,
                 const Machine& machine, SandboxLevel sandbox) {
    if (const std::string reason = find_foreign_condition(source.text()); !reason.empty())
        return no_recording(reason, {});
    auto registers = std::async(std::launch::async, [&] { return registers_of(judge, lab, stage, source, machine); });
    CompileRequest request = judge.compile_request(lab, stage, source, Task{.sandbox = sandbox});
    request.backend = Backend::cpu;
    request.traced = true;
    const Compiled compiled = compile(request);
    if (compiled.result.verdict != Verdict::passed || compiled.gimple.empty())
        return no_recording("the file does not compile for a trace", compiled.result.failure);
    const EffortLimit limit;
    const auto run = judge.make_run(request, compiled);
    // A call of many iterations takes long even if its blocks do not run.
    const bool is_short = run->oracle.cost(problem).iterations <= 1;
    Trace trace;
    for (std::uint32_t attempt = 0; attempt < max_attempts; ++attempt) {
        const TraceMemory memory;
        run->trace = {memory.file(),
                      {static_cast<std::uint32_t>(machine.multiprocessors), std::random_device()(),
                       static_cast<std::uint64_t>(machine.l2_bytes),
                       is_short ? std::random_device()() % max_calls_before : 0, draw_key()}};
        const auto failure = make_calls(*run, problem, run->trace.order.calls_before + 1);
        run->end_session();
        if (failure) return no_recording("the program did not finish the traced call", failure);
        trace = read_trace(unsealed(memory.contents(), run->trace.order.key));
        if (std::ranges::all_of(trace.launches, represents_all)) break;
    }
    const std::vector<Function> functions = read_gimple(read_file(compiled.gimple));
    Recording recording = {
        .trace = std::move(trace),
        .code = Code(functions, find_hook_calls(read_file(compiled.runner), functions), rolled_loops(source.text())),
        .registers = registers.get(),
        .calls = lab.benchmark.iterations / run->oracle.cost(problem).iterations};
    if (recording.code.size() == 0) return no_recording("the intermediate code of this g++ has an unknown format", {});
    if (const std::string reason = why_not_typical(recording.trace, machine); !reason.empty())
        return no_recording(reason, {});
    if (recording.trace.launches.empty()) return no_recording("the call launches no kernel", {});
    return recording;
}

Prediction model(const Recording& recording, const Machine& machine) {
    if (!recording.why_not.empty()) return {.why_not = recording.why_not};
    CallTime time;
    try {
        const EffortLimit limit;
        time = time_call(machine, recording.trace, recording.code, recording.registers);
    } catch (const std::exception& error) {
        return {.why_not = error.what()};
    }
    if (!std::isfinite(time.seconds) || time.seconds <= 0 || !std::isfinite(time.kernel_seconds))
        return {.why_not = "the trace gives no time"};
    return {.seconds = time.seconds * recording.calls,
            .wait_s = std::max(0.0, time.seconds - time.kernel_seconds) * recording.calls,
            .limit = find_limit(time),
            .parts = find_parts(time),
            .wasted = shares_wasted(time),
            .lines = shares_of_lines(time),
            .why_not = {}};
}

Interval ratio_interval(double ratio, const Machine& machine) {
    const double spread = std::min(machine.max_ratio_spread, machine.min_ratio_spread * std::max(ratio, 1 / ratio));
    return {ratio, ratio / spread, ratio * spread};
}

Gains try_changes(const Recording& recording, const Machine& machine, const Prediction& unchanged) {
    constexpr double min_share = 0.05, min_factor = 1.1;
    constexpr std::size_t max_tried = 4;
    std::vector<std::pair<double, Change>> candidates;
    for (const auto& [change, share] : unchanged.wasted)
        if (share >= min_share && change.line > 0) candidates.emplace_back(share, change);
    std::ranges::sort(candidates, std::greater<>());
    if (candidates.size() > max_tried) candidates.resize(max_tried);
    Gains gains;
    const auto significant = [&](double seconds) {
        const double factor = unchanged.seconds / seconds;
        return factor >= min_factor ? factor : 1;
    };
    gains.without_host = significant(unchanged.seconds - unchanged.wait_s);
    const EffortLimit limit;
    const auto seconds_with = [&](const Machine& gpu, const Change* change) {
        return time_call(gpu, recording.trace, recording.code, recording.registers, change).seconds * recording.calls;
    };
    try {
        if (unchanged.limit.blocks_at_once * unchanged.limit.threads_per_block < machine.threads)
            gains.full_occupancy = significant(seconds_with(with_full_occupancy(machine), nullptr));
        for (const auto& [share, change] : candidates)
            if (const double factor = significant(seconds_with(machine, &change)); factor > 1)
                gains.of_lines.push_back({change, factor});
    } catch (const std::runtime_error&) {  // the time is used up
    }
    std::ranges::sort(gains.of_lines, std::greater<>(), &Gain::factor);
    return gains;
}

}  // namespace warplab::predict
