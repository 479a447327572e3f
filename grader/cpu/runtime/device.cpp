// The simulated device, errors, streams and events.

#include <time.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "grader/cpu/include/warplab_cpu/api.h"
#include "grader/cpu/runtime/capture.h"
#include "grader/cpu/runtime/error.h"
#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/memory.h"
#include "grader/cpu/runtime/observer.h"
#include "grader/cpu/runtime/timeline.h"
#include "grader/cpu/runtime/tracer.h"

struct CUevent_st {
    timespec recorded;
    bool is_recorded, timed;
};
struct CUstream_st {
    unsigned flags;
};

using warplab_cpu::CreatedBy;
using warplab_cpu::Line;
using warplab_cpu::observer;
using warplab_cpu::timeline;

namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct ErrorText {
    cudaError_t error;
    const char *name, *words;
};
constexpr ErrorText error_texts[] = {
#define WARPLAB_CPU_ERROR(name, number, words) {name, #name, words},
#include "grader/cpu/include/warplab_cpu/errors.inc"
#undef WARPLAB_CPU_ERROR
};

const ErrorText* text_of(cudaError_t error) {
    for (const auto& text : error_texts)
        if (text.error == error) return &text;
    return nullptr;
}

int attribute(cudaDeviceAttr requested) {
    const warplab::trace::Order& traced = warplab_cpu::traced_device();
    if (traced.multiprocessors && requested == cudaDevAttrMultiProcessorCount)
        return static_cast<int>(traced.multiprocessors);
    if (traced.multiprocessors && requested == cudaDevAttrL2CacheSize) return static_cast<int>(traced.l2_bytes);
    switch (requested) {
#define WARPLAB_CPU_ATTRIBUTE(name, number, value) \
    case name:                                     \
        return value;
#include "grader/cpu/include/warplab_cpu/attributes.inc"
#undef WARPLAB_CPU_ATTRIBUTE
    }
    return -1;
}

constexpr size_t default_limits[] = {1024, 1 << 20, 8 << 20};
size_t limits[] = {1024, 1 << 20, 8 << 20};

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, const CreatedBy& by) {
    if (!stream || flags > cudaStreamNonBlocking) return warplab_cpu::set_error(cudaErrorInvalidValue);
    *stream = new CUstream_st{flags};
    if (observer) observer->handle_begins(*stream, by);
    return cudaSuccess;
}

cudaError_t create_event(cudaEvent_t* event, unsigned flags, const CreatedBy& by) {
    if (!event) return warplab_cpu::set_error(cudaErrorInvalidValue);
    *event = new CUevent_st{{}, false, !(flags & cudaEventDisableTiming)};
    if (observer) observer->handle_begins(*event, by);
    return cudaSuccess;
}

/// Run a host function as work of a stream.
template <class Function>
void run_in(cudaStream_t stream, Function function) {
    if (observer)
        timeline.run_in(stream, function);
    else
        function();
}

}  // namespace

namespace warplab_cpu {
unsigned multiprocessors = 16;

cudaError_t set_error(cudaError_t error) {
    if (error != cudaSuccess) warplab_cpu::drop_detail_of_read_error();
    return last_error = error;
}

cudaError_t record_event(cudaEvent_t event, cudaStream_t stream) {
    if (observer) timeline.record(event, stream);
    clock_gettime(CLOCK_MONOTONIC, &event->recorded);
    event->is_recorded = true;
    return cudaSuccess;
}

cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t event) {
    if (observer) timeline.wait(stream, event);
    return cudaSuccess;
}

cudaError_t call_host_function(cudaStream_t stream, const cudaHostNodeParams& params) {
    run_in(stream, [&] { params.fn(params.userData); });
    return cudaSuccess;
}
}  // namespace warplab_cpu

using warplab_cpu::set_error;
using warplab_cpu::store_result;

cudaError_t cudaGetLastError() {
    if (warplab_cpu::observer) warplab_cpu::observer->error_queried();
    const cudaError_t error = last_error;
    if (error != cudaSuccess) warplab_cpu::note_error_read();
    last_error = cudaSuccess;
    return error;
}
cudaError_t cudaPeekAtLastError() {
    if (warplab_cpu::observer) warplab_cpu::observer->error_queried();
    return last_error;
}
const char* cudaGetErrorName(cudaError_t error) {
    const ErrorText* text = text_of(error);
    return text ? text->name : "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error) {
    const ErrorText* text = text_of(error);
    return text ? text->words : "unrecognized error code";
}

cudaError_t cudaGetDeviceCount(int* count) { return store_result(count, 1); }
cudaError_t cudaGetDevice(int* device) { return store_result(device, 0); }
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : set_error(cudaErrorInvalidDevice); }
cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() {
    if (const auto error = warplab_cpu::refuse_device_wait(); error != cudaSuccess) return error;
    warplab_cpu::hide_left_visible();
    if (observer) timeline.synchronise();
    warplab_cpu::trace_host_call(warplab::trace::HostCallKind::wait);
    return cudaSuccess;
}
cudaError_t cudaDeviceReset(warplab_cpu::Line line) {
    const auto phase = static_cast<warplab::Phase>(warplab_cpu::writable_page().phase);
    if (phase == warplab::Phase::prepare || phase == warplab::Phase::call)
        warplab_cpu::end_with_fault(warplab::Fault::refused,
                                    "line " + std::to_string(line) +
                                        ": cudaDeviceReset() frees all memory of the device, including the caller's arrays");
    cudaDeviceSynchronize();
    if (observer) observer->device_reset();
    std::memcpy(limits, default_limits, sizeof(limits));
    last_error = cudaSuccess;
    return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    if (limit < 0 || limit >= static_cast<int>(std::size(limits))) return set_error(cudaErrorNotSupported);
    limits[limit] = value;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    const bool is_known = limit >= 0 && limit < static_cast<int>(std::size(limits));
    return value && !is_known ? set_error(cudaErrorNotSupported) : store_result(value, is_known ? limits[limit] : 0);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return store_result(version, CUDART_VERSION); }
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr requested, int device) {
    if (device != 0) return set_error(cudaErrorInvalidDevice);
    const int result = attribute(requested);
    return store_result(result < 0 ? nullptr : value, result);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
    if (!p) return set_error(cudaErrorInvalidValue);
    if (device != 0) return set_error(cudaErrorInvalidDevice);
    *p = {};
    std::strcpy(p->name, "Warplab CPU backend");
    p->totalGlobalMem = warplab_cpu::device_bytes;
    p->sharedMemPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    p->regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock);
    p->warpSize = attribute(cudaDevAttrWarpSize);
    p->memPitch = attribute(cudaDevAttrMaxPitch);
    p->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock);
    p->maxThreadsDim[0] = attribute(cudaDevAttrMaxBlockDimX);
    p->maxThreadsDim[1] = attribute(cudaDevAttrMaxBlockDimY);
    p->maxThreadsDim[2] = attribute(cudaDevAttrMaxBlockDimZ);
    p->maxGridSize[0] = attribute(cudaDevAttrMaxGridDimX);
    p->maxGridSize[1] = attribute(cudaDevAttrMaxGridDimY);
    p->maxGridSize[2] = attribute(cudaDevAttrMaxGridDimZ);
    p->clockRate = attribute(cudaDevAttrClockRate);
    p->totalConstMem = attribute(cudaDevAttrTotalConstantMemory);
    p->major = attribute(cudaDevAttrComputeCapabilityMajor);
    p->minor = attribute(cudaDevAttrComputeCapabilityMinor);
    p->textureAlignment = attribute(cudaDevAttrTextureAlignment);
    p->deviceOverlap = attribute(cudaDevAttrGpuOverlap);
    p->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
    p->canMapHostMemory = attribute(cudaDevAttrCanMapHostMemory);
    p->concurrentKernels = attribute(cudaDevAttrConcurrentKernels);
    p->asyncEngineCount = attribute(cudaDevAttrAsyncEngineCount);
    p->unifiedAddressing = attribute(cudaDevAttrUnifiedAddressing);
    p->memoryClockRate = attribute(cudaDevAttrMemoryClockRate);
    p->memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth);
    p->l2CacheSize = attribute(cudaDevAttrL2CacheSize);
    p->maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    p->streamPrioritiesSupported = attribute(cudaDevAttrStreamPrioritiesSupported);
    p->globalL1CacheSupported = attribute(cudaDevAttrGlobalL1CacheSupported);
    p->localL1CacheSupported = attribute(cudaDevAttrLocalL1CacheSupported);
    p->sharedMemPerMultiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    p->regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
    p->managedMemory = attribute(cudaDevAttrManagedMemory);
    p->singleToDoublePrecisionPerfRatio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
    p->cooperativeLaunch = attribute(cudaDevAttrCooperativeLaunch);
    p->concurrentManagedAccess = attribute(cudaDevAttrConcurrentManagedAccess);
    p->computePreemptionSupported = attribute(cudaDevAttrComputePreemptionSupported);
    p->canUseHostPointerForRegisteredMem = attribute(cudaDevAttrCanUseHostPointerForRegisteredMem);
    p->sharedMemPerBlockOptin = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    p->maxBlocksPerMultiProcessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
    p->reservedSharedMemPerBlock = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream, Line line) {
    return create_stream(stream, 0, {"cudaStreamCreate", "cudaStreamDestroy", line});
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags, Line line) {
    return create_stream(stream, flags, {"cudaStreamCreateWithFlags", "cudaStreamDestroy", line});
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int, Line line) {
    return create_stream(stream, flags, {"cudaStreamCreateWithPriority", "cudaStreamDestroy", line});
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return set_error(cudaErrorInvalidResourceHandle);
    if (observer) observer->handle_ends(stream);
    warplab_cpu::forget_stream(stream);
    delete stream;
    return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
    const bool is_special = !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
    return store_result(flags, is_special ? cudaStreamDefault : stream->flags);
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
    constexpr std::string_view bus_id = "0000:00:00.0";
    if (!id || device != 0 || length <= static_cast<int>(bus_id.size())) return set_error(cudaErrorInvalidValue);
    id[bus_id.copy(id, bus_id.size())] = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
    return id ? cudaGetDevice(device) : set_error(cudaErrorInvalidValue);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    if (const auto error = warplab_cpu::refuse_wait(stream); error != cudaSuccess) return error;
    warplab_cpu::hide_left_visible();
    if (observer) timeline.synchronise(stream);
    warplab_cpu::trace_host_call(warplab::trace::HostCallKind::wait);
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    if (!event) return set_error(cudaErrorInvalidResourceHandle);
    if (const auto result = warplab_cpu::capture_wait(stream, event, flags)) return *result;
    return warplab_cpu::wait_for_event(stream, event);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
    if (!callback || flags != 0) return set_error(cudaErrorInvalidValue);
    if (const auto error = warplab_cpu::refuse_wait(stream); error != cudaSuccess) return error;
    run_in(stream, [&] { callback(stream, cudaSuccess, data); });
    return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    if (!function) return set_error(cudaErrorInvalidValue);
    return warplab_cpu::do_in_stream(stream, cudaGraphNodeTypeHost, [function, data](cudaStream_t where) {
        return warplab_cpu::call_host_function(where, {function, data});
    });
}

cudaError_t cudaEventCreate(cudaEvent_t* event, Line line) { return cudaEventCreate(event, 0, line); }
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags, Line line) {
    return create_event(event, flags, {"cudaEventCreate", "cudaEventDestroy", line});
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags, Line line) {
    return create_event(event, flags, {"cudaEventCreateWithFlags", "cudaEventDestroy", line});
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    if (!event) return set_error(cudaErrorInvalidResourceHandle);
    if (const auto result = warplab_cpu::capture_record(event, stream, flags)) return *result;
    warplab_cpu::forget_event(event);
    return warplab_cpu::record_event(event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    if (!event) return set_error(cudaErrorInvalidResourceHandle);
    if (const auto error = warplab_cpu::refuse_wait(event); error != cudaSuccess) return error;
    warplab_cpu::hide_left_visible();
    if (observer) timeline.synchronise(static_cast<const void*>(event));
    warplab_cpu::trace_host_call(warplab::trace::HostCallKind::wait);
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return cudaEventQuery(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (!event) return set_error(cudaErrorInvalidResourceHandle);
    if (observer) observer->handle_ends(event);
    warplab_cpu::forget_event(event);
    delete event;
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    if (!milliseconds) return set_error(cudaErrorInvalidValue);
    if (!begin || !end || !begin->is_recorded || !end->is_recorded || !begin->timed || !end->timed)
        return set_error(cudaErrorInvalidResourceHandle);
    const auto seconds = static_cast<double>(end->recorded.tv_sec - begin->recorded.tv_sec);
    const auto nanoseconds = static_cast<double>(end->recorded.tv_nsec - begin->recorded.tv_nsec);
    *milliseconds = static_cast<float>(seconds * 1e3 + nanoseconds * 1e-6);
    return cudaSuccess;
}
