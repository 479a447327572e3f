#pragma once
// Work that goes into a graph instead of being done, while its stream is being captured.

#include <atomic>
#include <functional>
#include <optional>

#include "grader/cpu/include/warplab_cpu/graphs.h"

namespace warplab_cpu {

/// What a node of a graph does, in a stream.
using Action = std::function<cudaError_t(cudaStream_t)>;

/// What a kernel with these parameters does: the launch is checked now, and the parameters are copied.
Action kernel_action(const cudaKernelNodeParams& params, int line, cudaError_t& error);
/// Which kernel a pointer to a __global__ function means.
const void* identity_of(const void* kernel);

extern std::atomic<int> running_captures;

/// If the stream is being captured, records the action; returns what the call returns, or nothing if it is to do its
/// work now. `kernel` tells the kernels of nodes apart.
std::optional<cudaError_t> capture_work(cudaStream_t stream, cudaGraphNodeType type, const Action& action,
                                        const void* kernel = nullptr);
template <class Work>
cudaError_t do_in_stream(cudaStream_t stream, cudaGraphNodeType type, const Work& work) {
    if (running_captures)
        if (const auto result = capture_work(stream, type, work)) return *result;
    return work(stream);
}

/// For calls that allocate memory, or wait for their own work: the error, if a capture forbids them.
cudaError_t refuse_while_capturing();
/// The same for calls that wait for the device, a stream or an event, or ask about it.
cudaError_t refuse_device_wait();
cudaError_t refuse_wait(cudaStream_t stream);
cudaError_t refuse_wait(cudaEvent_t event);
/// What these do in a stream that is being captured; nothing if they are to do it now.
std::optional<cudaError_t> capture_record(cudaEvent_t event, cudaStream_t stream, unsigned flags);
std::optional<cudaError_t> capture_wait(cudaStream_t stream, cudaEvent_t event, unsigned flags);
void forget_event(cudaEvent_t event);
void forget_stream(cudaStream_t stream);

cudaError_t record_event(cudaEvent_t event, cudaStream_t stream);
cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t event);
cudaError_t call_host_function(cudaStream_t stream, const cudaHostNodeParams& params);
cudaError_t copy_in_stream(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, int line,
                           cudaStream_t stream);
cudaError_t copy_in_stream(const cudaMemcpy3DParms& params, int line, cudaStream_t stream);
cudaError_t fill_in_stream(const cudaMemsetParams& params, int line, cudaStream_t stream);

}  // namespace warplab_cpu
