// Stream capture: calls that would put work into a stream add nodes to a graph instead.

#include "grader/cpu/runtime/capture.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "grader/cpu/runtime/error.h"
#include "grader/cpu/runtime/graph.h"

namespace warplab_cpu {

std::atomic<int> running_captures{0};

namespace {

using Nodes = std::set<CUgraphNode_st*>;

struct Capture {
    std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
    cudaStream_t origin = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    std::thread::id thread;
    unsigned long long id = 0;
    bool valid = true;
    std::map<cudaStream_t, Nodes> latest;  // the nodes on which the next node of each stream depends
};
using CapturePointer = std::shared_ptr<Capture>;

/// An event that was last recorded in a capture, with the nodes on which a wait for it depends.
struct CapturedEvent {
    CapturePointer capture;
    Nodes nodes;
};

std::recursive_mutex mutex;
std::vector<CapturePointer>& captures() {
    static auto& all = *new std::vector<CapturePointer>;
    return all;
}
std::map<cudaEvent_t, CapturedEvent>& captured_events() {
    static auto& all = *new std::map<cudaEvent_t, CapturedEvent>;
    return all;
}

CapturePointer capture_of(cudaStream_t stream) {
    for (const auto& capture : captures())
        if (capture->latest.count(stream)) return capture;
    return nullptr;
}

bool is_legacy(cudaStream_t stream) { return !stream || stream == cudaStreamLegacy; }

bool is_blocking(cudaStream_t stream) {
    unsigned flags = 0;
    return cudaStreamGetFlags(stream, &flags) == cudaSuccess && !(flags & cudaStreamNonBlocking);
}

/// Record an error that invalidates the capture. The end of the capture reports it.
cudaError_t invalidate(Capture& capture, cudaError_t error) {
    capture.valid = false;
    return set_error(error);
}

/// Return the capture of a stream that synchronises with the legacy stream; null if there is none.
CapturePointer capture_of_blocking_stream() {
    for (const auto& capture : captures())
        for (const auto& [stream, nodes] : capture->latest)
            if (is_blocking(stream)) return capture;
    return nullptr;
}

thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

bool forbids_unsafe_calls(const Capture& capture) {
    const bool by_this_thread = capture.thread == std::this_thread::get_id();
    const cudaStreamCaptureMode mode = std::max(capture.mode, mode_of_thread);
    return mode == cudaStreamCaptureModeGlobal || (mode == cudaStreamCaptureModeThreadLocal && by_this_thread);
}

CUgraphNode_st* add_node(Capture& capture, cudaStream_t stream, cudaGraphNodeType type, Action action,
                         const void* kernel) {
    Nodes& latest = capture.latest[stream];
    CUgraphNode_st* const node = capture.graph->add(type, std::move(action), {latest.begin(), latest.end()}, kernel);
    latest = {node};
    return node;
}

/// Return whether a stream has nodes that the origin did not wait for.
bool has_unjoined_work(const Capture& capture) {
    std::set<const CUgraphNode_st*> joined;
    const auto& from = capture.latest.at(capture.origin);
    std::vector<const CUgraphNode_st*> left(from.begin(), from.end());
    while (!left.empty()) {
        const auto* node = left.back();
        left.pop_back();
        if (!joined.insert(node).second) continue;
        left.insert(left.end(), node->dependencies.begin(), node->dependencies.end());
    }
    return std::ranges::any_of(capture.graph->nodes, [&](const auto& node) { return !joined.count(node.get()); });
}

void forget(const CapturePointer& capture) {
    std::erase(captures(), capture);
    --running_captures;
}

}  // namespace

std::optional<cudaError_t> capture_work(cudaStream_t stream, cudaGraphNodeType type, const Action& action,
                                        const void* kernel) {
    const std::lock_guard lock(mutex);
    if (is_legacy(stream)) {
        const auto blocking = capture_of_blocking_stream();
        if (blocking) return invalidate(*blocking, cudaErrorStreamCaptureImplicit);
        return std::nullopt;
    }
    const auto capture = capture_of(stream);
    if (!capture) return std::nullopt;
    if (!capture->valid) return set_error(cudaErrorStreamCaptureInvalidated);
    add_node(*capture, stream, type, action, kernel);
    return cudaSuccess;
}

cudaError_t refuse_while_capturing() {
    if (!running_captures) return cudaSuccess;
    const std::lock_guard lock(mutex);
    for (const auto& capture : captures())
        if (forbids_unsafe_calls(*capture)) return invalidate(*capture, cudaErrorStreamCaptureUnsupported);
    return cudaSuccess;
}

cudaError_t refuse_device_wait() {
    if (!running_captures) return cudaSuccess;
    const std::lock_guard lock(mutex);
    for (const auto& capture : captures()) invalidate(*capture, cudaErrorStreamCaptureUnsupported);
    return captures().empty() ? cudaSuccess : set_error(cudaErrorStreamCaptureUnsupported);
}

cudaError_t refuse_wait(cudaStream_t stream) {
    if (!running_captures) return cudaSuccess;
    const std::lock_guard lock(mutex);
    if (is_legacy(stream)) {
        const auto blocking = capture_of_blocking_stream();
        return blocking ? invalidate(*blocking, cudaErrorStreamCaptureImplicit) : cudaSuccess;
    }
    const auto capture = capture_of(stream);
    return capture ? invalidate(*capture, cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

cudaError_t refuse_wait(cudaEvent_t event) {
    const std::lock_guard lock(mutex);
    const auto iterator = captured_events().find(event);
    if (iterator == captured_events().end()) return cudaSuccess;
    return invalidate(*iterator->second.capture, cudaErrorCapturedEvent);
}

std::optional<cudaError_t> capture_record(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    const std::lock_guard lock(mutex);
    if (is_legacy(stream)) return capture_work(stream, cudaGraphNodeTypeEventRecord, nullptr);
    const auto capture = capture_of(stream);
    if (!capture) return std::nullopt;
    if (!capture->valid) return set_error(cudaErrorStreamCaptureInvalidated);
    if (flags & cudaEventRecordExternal)
        add_node(
            *capture, stream, cudaGraphNodeTypeEventRecord,
            [event](cudaStream_t where) { return record_event(event, where); }, nullptr);
    else
        captured_events()[event] = {capture, capture->latest[stream]};
    return cudaSuccess;
}

std::optional<cudaError_t> capture_wait(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
    const std::lock_guard lock(mutex);
    const auto own = capture_of(stream);
    const auto iterator = captured_events().find(event);
    const auto other = iterator == captured_events().end() ? nullptr : iterator->second.capture;
    if (!own && !other) return std::nullopt;
    if (own && !own->valid) return set_error(cudaErrorStreamCaptureInvalidated);
    if (own && (flags & cudaEventWaitExternal)) {
        add_node(
            *own, stream, cudaGraphNodeTypeWaitEvent,
            [event](cudaStream_t where) { return wait_for_event(where, event); }, nullptr);
        return cudaSuccess;
    }
    if (!other) return invalidate(*own, cudaErrorStreamCaptureIsolation);
    if (own && own != other) {
        other->valid = false;
        return invalidate(*own, cudaErrorStreamCaptureMerge);
    }
    if (std::ranges::find(captures(), other) == captures().end())
        return set_error(cudaErrorCapturedEvent);  // the capture has ended
    if (is_legacy(stream)) return invalidate(*other, cudaErrorStreamCaptureImplicit);
    other->latest[stream].insert(iterator->second.nodes.begin(), iterator->second.nodes.end());
    return cudaSuccess;
}

void forget_event(cudaEvent_t event) {
    const std::lock_guard lock(mutex);
    captured_events().erase(event);
}

void forget_stream(cudaStream_t stream) {
    if (!running_captures) return;
    const std::lock_guard lock(mutex);
    if (const auto capture = capture_of(stream)) capture->valid = false;
}

}  // namespace warplab_cpu

using namespace warplab_cpu;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
        return set_error(cudaErrorInvalidValue);
    if (is_legacy(stream)) return set_error(cudaErrorStreamCaptureUnsupported);
    static unsigned long long last_id = 0;
    const std::lock_guard lock(mutex);
    if (capture_of(stream)) return set_error(cudaErrorIllegalState);
    auto capture = std::make_shared<Capture>();
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->id = ++last_id;
    capture->latest[stream] = {};
    captures().push_back(std::move(capture));
    ++running_captures;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    if (!graph) return set_error(cudaErrorInvalidValue);
    *graph = nullptr;
    const std::lock_guard lock(mutex);
    const auto capture = capture_of(stream);
    if (!capture) return set_error(cudaErrorIllegalState);
    if (capture->origin != stream) return invalidate(*capture, cudaErrorStreamCaptureUnmatched);
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
        return invalidate(*capture, cudaErrorStreamCaptureWrongThread);
    forget(capture);
    if (!capture->valid) return set_error(cudaErrorStreamCaptureInvalidated);
    if (has_unjoined_work(*capture)) return set_error(cudaErrorStreamCaptureUnjoined);
    *graph = capture->graph.release();
    return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph) {
    if (!status) return set_error(cudaErrorInvalidValue);
    const std::lock_guard lock(mutex);
    if (is_legacy(stream) && capture_of_blocking_stream()) return set_error(cudaErrorStreamCaptureImplicit);
    const auto capture = capture_of(stream);
    *status = !capture         ? cudaStreamCaptureStatusNone
              : capture->valid ? cudaStreamCaptureStatusActive
                               : cudaStreamCaptureStatusInvalidated;
    if (id) *id = capture ? capture->id : 0;
    if (graph) *graph = capture ? capture->graph.get() : nullptr;
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    return cudaStreamGetCaptureInfo(stream, status, nullptr, nullptr);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    if (!mode) return set_error(cudaErrorInvalidValue);
    std::swap(mode_of_thread, *mode);
    return cudaSuccess;
}
