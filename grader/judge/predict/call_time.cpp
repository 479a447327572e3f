#include "grader/judge/predict/call_time.h"

#include <algorithm>
#include <variant>

#include "grader/judge/predict/effort.h"

namespace warplab::predict {
namespace {

constexpr int max_replays_of_shape = 3;  // later launches of the shape no longer change the contents of the L2

int registers_of(const std::map<std::string, int>& registers, const std::string& kernel) {
    const std::string name = kernel.substr(0, kernel.find('<'));
    int found = 0;
    for (const auto& [known, count] : registers)
        if (known == kernel || known.substr(0, known.find('<')) == name) found = std::max(found, count);
    return found ? found : default_registers;
}

Residency residency_before(const Trace& trace, const Machine& machine) {
    Residency residency;
    for (const TracedMemory& memory : trace.memories) {
        // The calls of a benchmark work on different buffers; scratch and variables are the same in all.
        const bool from_call_before =
            memory.role != trace::MemoryRole::lab_buffer && static_cast<double>(memory.bytes) < machine.l2_bytes;
        residency.bytes.push_back(from_call_before ? static_cast<double>(memory.bytes) : 0);
    }
    return residency;
}

/// Host and GPU, each with the time until which it is busy.
class Timeline {
  public:
    explicit Timeline(const Machine& machine) : machine_(machine) {}

    void launch(double kernel_s) {
        host_ += machine_.host.launch;
        run(kernel_s);
    }
    void call(const trace::HostCall& call) {
        const auto& host = machine_.host;
        const double bytes = static_cast<double>(std::max(call.written_bytes, call.read_bytes));
        switch (call.kind) {
            case trace::HostCallKind::fill:
                host_ += host.launch;
                run(host.fill + bytes / machine_.dram_bytes_per_s);
                return;
            case trace::HostCallKind::copy:
                return copy(call, bytes);
            case trace::HostCallKind::wait:
                host_ = std::max(host_, gpu_) + host.wait;
                gpu_ = host_ - host.start;
                return;
            case trace::HostCallKind::allocate:
            case trace::HostCallKind::free:
                host_ = std::max(host_, gpu_) + host.allocate;
                return;
        }
    }
    double now() const { return std::max(host_, gpu_); }

  private:
    void run(double seconds) { gpu_ = std::max(gpu_ + machine_.host.gap, host_ + machine_.host.start) + seconds; }
    void copy(const trace::HostCall& call, double bytes) {
        const auto& host = machine_.host;
        if (call.written_bytes && call.read_bytes) {
            host_ += host.launch;
            return run(host.fill + 2 * bytes / machine_.dram_bytes_per_s);
        }
        if (call.read_bytes) {
            host_ = std::max(host_, gpu_) + host.copy_to_host + bytes / host.link_bytes_per_s;
            gpu_ = host_ - host.start;
            return;
        }
        host_ += host.copy_to_device;
        gpu_ = std::max(gpu_, host_) + 1e-6 + bytes / host.link_bytes_per_s;
    }
    const Machine& machine_;
    double host_ = 0, gpu_ = 0;
};

}  // namespace

CallTime time_call(const Machine& machine, const Trace& trace, const Code& code,
                   const std::map<std::string, int>& registers, const Change* change) {
    Residency residency = residency_before(trace, machine);
    std::vector<KernelTime> times(trace.launches.size());
    std::map<std::size_t, int> replays;
    CallTime result;
    for (std::size_t i = 0; i < trace.launches.size(); ++i) {
        count_effort();
        const std::size_t shape = trace.launches[i].same_as;
        const TracedLaunch& recorded = trace.launches[shape];
        if (replays[shape]++ < max_replays_of_shape)
            times[shape] =
                replay(machine, trace, recorded, code, registers_of(registers, recorded.kernel), residency, change);
        times[i] = times[shape];
        CallTime::OfKernel& kernel = result.kernels[recorded.kernel];
        kernel.seconds += times[i].clocks / machine.clock_hz;
        ++kernel.launches;
        kernel.last = times[i];
        result.kernel_seconds += times[i].clocks / machine.clock_hz;
    }
    Timeline timeline(machine);
    constexpr int first_calls = 2, calls = 3;  // calls that are not counted, then calls that are
    double begin = 0;
    for (int call = 0; call < first_calls + calls; ++call) {
        if (call == first_calls) begin = timeline.now();
        for (const auto& step : trace.steps) {
            if (const auto* launch = std::get_if<Trace::LaunchNumber>(&step))
                timeline.launch(times[launch->number].clocks / machine.clock_hz);
            else
                timeline.call(std::get<trace::HostCall>(step));
        }
    }
    result.seconds = (timeline.now() - begin) / calls;
    return result;
}

}  // namespace warplab::predict
