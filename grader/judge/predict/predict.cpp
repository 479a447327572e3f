#include "grader/judge/predict/predict.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "grader/common/read_file.h"
#include "grader/judge/check/call.h"

namespace warplab::predict {
namespace {

/// The memory file that the runner writes its trace into.
class TraceMemory {
  public:
    TraceMemory() : file_(memfd_create("warplab-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
        if (!file_ || ftruncate(file_.get(), trace::most_bytes) != 0)
            throw std::runtime_error(fmt::format("cannot make a memory file: {}", std::strerror(errno)));
    }
    int file() const { return file_.get(); }
    /// Return a copy of what was written.
    std::string contents() const {
        std::string all(trace::most_bytes, '\0');
        std::size_t done = 0;
        for (ssize_t got; done < all.size() && (got = pread(file_.get(), all.data() + done, all.size() - done,
                                                            static_cast<off_t>(done))) > 0;)
            done += static_cast<std::size_t>(got);
        all.resize(done);
        return all;
    }

  private:
    Descriptor file_;
};

/// Make one call with the dataset's inputs. Its outputs are not looked at: only some blocks run.
std::optional<Failure> call_once(StageRun& run, const Problem& problem) {
    if (const Session::Reply reply = run.greet(); reply.failure) return reply.failure;
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
    return run.runner_session().ask(request, {}, time_limit_s(run, problem)).failure;
}

}  // namespace

Prediction predict(Judge& judge, const Lab& lab, const Stage& stage, const std::filesystem::path& source,
                   const Dataset& dataset, const Machine& machine, SandboxLevel sandbox) {
    Prediction prediction;
    CompileRequest request = judge.compile_request(lab, stage, source, Task{.sandbox = sandbox});
    request.backend = Backend::cpu;
    request.traced = true;
    const Compiled compiled = compile(request);
    if (compiled.result.verdict != Verdict::passed || compiled.gimple.empty()) {
        prediction.failure = compiled.result.failure;
        prediction.why_not = "the program does not compile for a trace";
        return prediction;
    }
    const TraceMemory memory;
    const auto run = judge.make_run(request, compiled);
    run->trace = {memory.file(),
                  {static_cast<std::uint32_t>(machine.multiprocessors), std::random_device()(),
                   static_cast<std::uint64_t>(machine.l2_bytes)}};
    const Problem problem = run->oracle.generate(dataset, dataset.seed, 0);
    prediction.iterations = run->oracle.cost(problem).iterations;
    prediction.failure = call_once(*run, problem);
    run->end_session();
    if (prediction.failure) {
        prediction.why_not = "the program did not finish the call that was traced";
        return prediction;
    }
    const Code code(read_gimple(read_file(compiled.gimple)), find_hook_calls(read_file(compiled.runner)));
    prediction.unmatched = code.unmatched();
    const Trace trace = read_trace(memory.contents());
    std::map<std::string, int> registers;
    for (const auto& [kernel, resources] : judge.resources(lab, stage, source, "sm_90"))
        registers[kernel] = static_cast<int>(resources.registers);
    prediction.time = time_call(machine, trace, code, registers);
    return prediction;
}

}  // namespace warplab::predict
