#pragma once
// Records the work of a stream in a graph, instead of doing it, while the stream is being captured.

#include <atomic>
#include <functional>
#include <optional>

#include "grader/cpu/include/warplab_cpu/graphs.h"

namespace warplab_cpu {

/// The work of a graph's node, in a stream.
using Action = std::function<cudaError_t(cudaStream_t)>;

/// Check a kernel's launch, set `error` to the result, and return the work of the kernel with a copy of its parameters.
Action kernel_action(const cudaKernelNodeParams& params, int line, cudaError_t& error);
/// Return the identity of the kernel to which a pointer to a __global__ function refers.
const void* identity_of(const void* kernel);

extern std::atomic<int> running_captures;

/// Record the action if the stream is being captured, and return the result of the call. Return nothing if the call
/// must do its work now. `kernel` identifies the kernel of a kernel node.
std::optional<cudaError_t> capture_work(cudaStream_t stream, cudaGraphNodeType type, const Action& action,
                                        const void* kernel = nullptr);
/// Record the work if the stream is being captured; otherwise, do it now.
template <class Work>
cudaError_t do_in_stream(cudaStream_t stream, cudaGraphNodeType type, const Work& work) {
    if (running_captures)
        if (const auto result = capture_work(stream, type, work)) return *result;
    return work(stream);
}

/// Return the error for a call that allocates memory, or waits for its own work, if a capture forbids it.
cudaError_t refuse_while_capturing();
/// Return the same error for a call that waits for the device, a stream or an event, or queries it.
cudaError_t refuse_device_wait();
cudaError_t refuse_wait(cudaStream_t stream);
cudaError_t refuse_wait(cudaEvent_t event);
/// Record the call if its stream is being captured, and return its result. Return nothing if the call must do its work
/// now.
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
