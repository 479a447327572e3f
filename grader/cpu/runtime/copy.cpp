// Makes copies and fills, and checks their direction and size.

#include <algorithm>
#include <cstring>
#include <string>

#include "grader/cpu/include/warplab_cpu/api.h"
#include "grader/cpu/runtime/capture.h"
#include "grader/cpu/runtime/error.h"
#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/memory.h"
#include "grader/cpu/runtime/observer.h"
#include "grader/cpu/runtime/scheduler.h"
#include "grader/cpu/runtime/timeline.h"
#include "grader/cpu/runtime/tracer.h"

namespace warplab_cpu {
namespace {

using warplab::FindingKind;

/// Refuse a call. `advice` continues the sentence where no finding adds a hint.
cudaError_t refuse(const char* function, int line, const std::string& reason, FindingKind kind,
                   cudaError_t error = cudaErrorInvalidValue, const std::string& advice = "") {
    if (observer) observer->defect_found(kind, line, function, reason);
    note_detail("line " + std::to_string(line) + ": " + function + ": " + reason + advice);
    return set_error(error);
}

/// Locks the device during a copy or a fill, and records this work for the sanitizer and the tracer.
class WorkRecord {
  public:
    WorkRecord(const char* function, int line, cudaStream_t stream, bool host_waits) : host_waits_(host_waits) {
        begin_traced_move(function);
        if (observer) timeline.begin_work(stream, line, function);
        if (observer && ++block_state.epoch == 0) ++block_state.epoch;
    }
    ~WorkRecord() {
        if (observer) timeline.end_work(host_waits_);
        end_traced_move(host_waits_);
    }
    WorkRecord(const WorkRecord&) = delete;
    WorkRecord& operator=(const WorkRecord&) = delete;
    void let_host_wait() { host_waits_ = true; }

  private:
    DeviceLock lock_ = lock_device();
    bool host_waits_;
};

/// The memory at both ends of a copy. Managed memory counts as device memory and as host memory.
struct Ends {
    Place to, from;
    bool to_device() const { return to.side == Side::device || to.side == Side::managed; }
    bool from_device() const { return from.side == Side::device || from.side == Side::managed; }
    bool to_host() const { return to.side != Side::device; }
    bool from_host() const { return from.side != Side::device; }
};

/// Record the write of a copy even if the copy is refused afterwards; otherwise, a later read of the destination would
/// cause a second finding.
void note_written(const char* function, int line, void* to, size_t pitch, size_t width, size_t height) {
    bool allowed = true;
    for (size_t row = 0; observer && row < height; ++row)
        allowed = observer->memory_written(static_cast<char*>(to) + row * pitch, width) && allowed;
    if (!allowed)
        observer->defect_found(FindingKind::input_written, line, function, "the destination is an input of the lab");
}

void note_read(const void* from, size_t pitch, size_t width, size_t height) {
    for (size_t row = 0; observer && row < height; ++row)
        observer->memory_read(static_cast<const char*>(from) + row * pitch, width);
}

const char* name_of(cudaMemcpyKind kind) {
    return kind == cudaMemcpyHostToHost     ? "cudaMemcpyHostToHost"
           : kind == cudaMemcpyHostToDevice ? "cudaMemcpyHostToDevice"
           : kind == cudaMemcpyDeviceToHost ? "cudaMemcpyDeviceToHost"
                                            : "cudaMemcpyDeviceToDevice";
}

/// Describe a copy if both its ends are on the wrong side for `kind`: the direction is wrong, or the pointers are
/// exchanged. Return an empty string for other copies.
std::string describe_wrong_way(const Ends& ends, cudaMemcpyKind kind) {
    const bool goes_to_host = kind == cudaMemcpyHostToDevice && !ends.to_device() && !ends.from_host();
    const bool goes_to_device = kind == cudaMemcpyDeviceToHost && !ends.to_host() && !ends.from_device();
    if (!goes_to_host && !goes_to_device) return "";
    return std::string("the direction says ") + name_of(kind) + ", but the pointers go from " +
           (goes_to_host ? "device to host" : "host to device");
}

/// Describe the end that is on the wrong side for `kind`; return null if the direction is right.
const char* describe_wrong_direction(const Ends& ends, cudaMemcpyKind kind) {
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) return nullptr;
    if (to_device && !ends.to_device()) return "the destination should be device memory, but is host memory";
    if (!to_device && !ends.to_host()) return "the destination should be host memory, but is device memory";
    if (from_device && !ends.from_device()) return "the source should be device memory, but is host memory";
    if (!from_device && !ends.from_host()) return "the source should be host memory, but is device memory";
    return nullptr;
}

std::string describe_too_small(const std::string& what, std::size_t bytes, std::size_t requested,
                               const char* verb = "copied", const std::string& place = "this address") {
    return what + " is too small: it has " + std::to_string(bytes) + " bytes from " + place + " on, but " +
           std::to_string(requested) + " are " + verb;
}

/// Report a copy or a fill that exceeds the end of one of the lab's buffers or of a std::vector. A buffer has guard
/// zones around it, so only the sanitizer knows where it ends.
void report_beyond_buffer(const char* function, const char* what, const void* at, std::size_t requested,
                          const char* verb, int line) {
    const std::size_t available = observer ? observer->bytes_left(at) : requested;
    if (available < requested)
        observer->defect_found(FindingKind::copy_size, line, function,
                               describe_too_small(what, available, requested, verb));
    const std::size_t left_in_vector = observer ? observer->vector_bytes_left(at) : requested;
    if (left_in_vector < requested)
        observer->defect_found(FindingKind::beyond_vector, line, function,
                               describe_too_small(what, left_in_vector, requested, verb));
}

struct BadPointer {
    FindingKind kind;
    std::string reason;  // follows "the source " or "the destination "; empty for a pointer that a copy can use
};

/// Describe why no copy can use a pointer. `function` is the CUDA function that accepts a variable by its name.
BadPointer find_bad_pointer(const void* pointer, const char* function) {
    if (!pointer) return {FindingKind::copy_direction, "is null"};
    if (is_never_set(pointer)) return {FindingKind::copy_direction, "is a pointer that was never set"};
    if (was_freed(pointer)) return {FindingKind::copy_of_freed, "was freed before"};
    const char* const variable = variable_by_name(pointer);
    if (!variable) return {};
    return {FindingKind::copy_by_name,
            std::string("is the variable ") + variable + " by its name, which only " + function + " accepts"};
}

/// Refuse a copy by name to or from a symbol that is too small from `offset` on, or that is not a device variable.
cudaError_t refuse_symbol(const char* function, const void* symbol, size_t symbol_bytes, size_t offset,
                          size_t requested, int line) {
    if (is_symbol(symbol)) {
        const size_t left = symbol_bytes - std::min(offset, symbol_bytes);
        const bool is_direction = offset == cudaMemcpyHostToDevice || offset == cudaMemcpyDeviceToHost;
        const std::string place = offset == 0 ? "its beginning" : "offset " + std::to_string(offset);
        return refuse(function, line, describe_too_small("the symbol", left, requested, "copied", place),
                      is_direction ? FindingKind::copy_at_direction : FindingKind::copy_size, cudaErrorInvalidValue,
                      is_direction ? " (the fourth argument is the offset in bytes; the direction comes fifth)" : "");
    }
    return refuse(function, line, "the name belongs to a host variable, not to a __device__ or __constant__ variable",
                  FindingKind::copy_of_host_variable, cudaErrorInvalidSymbol);
}

constexpr Room unknown_room = {~size_t{0}, ~size_t{0}};

/// Describe a copy that exceeds the end of a variable; return an empty string for other copies.
std::string describe_beyond_variable(size_t bytes, const Room& room) {
    if (bytes <= std::min(room.to, room.from)) return "";
    const bool is_to = bytes > room.to;
    return std::string("the ") + (is_to ? "destination" : "source") + " is a variable of " +
           std::to_string(is_to ? room.to : room.from) + " bytes, but " + std::to_string(bytes) + " are copied";
}

/// Describe a copy that exceeds the end of a block of the host's heap; return an empty string for other copies.
std::string describe_beyond_heap(const void* to, size_t to_bytes, const void* from, size_t from_bytes) {
    if (const size_t left = heap_bytes_left(to); left < to_bytes)
        return describe_too_small("the destination", left, to_bytes);
    if (const size_t left = heap_bytes_left(from); left < from_bytes)
        return describe_too_small("the source", left, from_bytes);
    return "";
}

cudaError_t copy(const char* function, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                 size_t height, cudaMemcpyKind kind, int line, Queue queue = {}, const Room& room = unknown_room) {
    if (width == 0 || height == 0) return cudaSuccess;
    WorkRecord record(function, line, queue.stream, queue.host_waits);
    if (observer && height == 1 && observer->is_exchanged(to, from, width))
        observer->defect_found(FindingKind::copy_direction, line, function,
                               "the source has never been written, but the destination has");
    note_written(function, line, to, to_pitch, width, height);
    if (const BadPointer bad = find_bad_pointer(to, "cudaMemcpyToSymbol"); !bad.reason.empty())
        return refuse(function, line, "the destination " + bad.reason, bad.kind);
    if (const BadPointer bad = find_bad_pointer(from, "cudaMemcpyFromSymbol"); !bad.reason.empty())
        return refuse(function, line, "the source " + bad.reason, bad.kind);
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return set_error(cudaErrorInvalidMemcpyDirection);
    if (height > 1 && (width > to_pitch || width > from_pitch)) return set_error(cudaErrorInvalidPitchValue);
    const size_t to_bytes = (height - 1) * to_pitch + width, from_bytes = (height - 1) * from_pitch + width;
    const Ends ends{place_of(to, to_bytes), place_of(from, from_bytes)};
    if (const std::string reason = describe_wrong_way(ends, kind); !reason.empty())
        return refuse(function, line, reason, FindingKind::copy_direction);
    if (const std::string reason = describe_beyond_variable(width, room); !reason.empty())
        return refuse(function, line, reason, FindingKind::copy_beyond_variable);
    if (const char* reason = describe_wrong_direction(ends, kind))
        return refuse(function, line, reason, FindingKind::copy_direction);
    if (const std::string reason = describe_beyond_heap(to, to_bytes, from, from_bytes); !reason.empty())
        return refuse(function, line, reason, FindingKind::copy_beyond_heap);
    if (!ends.to.fits || !ends.from.fits)
        return refuse(
            function, line,
            describe_too_small(ends.to.fits ? "the source" : "the destination",
                               ends.to.fits ? ends.from.bytes : ends.to.bytes, ends.to.fits ? from_bytes : to_bytes),
            FindingKind::copy_size);
    if (ends.to.side == Side::unknown) record.let_host_wait();  // the destination is not pinned
    report_beyond_buffer(function, "the destination", to, to_bytes, "copied", line);
    report_beyond_buffer(function, "the source", from, from_bytes, "copied", line);
    note_read(from, from_pitch, width, height);
    if (ends.from_device() && ends.to_host() && ends.to.side != Side::managed && kind != cudaMemcpyHostToHost)
        count_host_bytes(width * height, line);
    const Access to_access(to, to_bytes), from_access(from, from_bytes);
    if (height == 1) {
        std::memmove(to, from, width);
        return cudaSuccess;
    }
    for (size_t row = 0; row < height; ++row)
        std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
    return cudaSuccess;
}

/// Fill rows with the lowest `element_bytes` bytes of `value`, repeated.
cudaError_t fill(const char* function, void* to, size_t pitch, unsigned value, size_t element_bytes, size_t width,
                 size_t height, int line, cudaStream_t stream) {
    if (width == 0 || height == 0) return cudaSuccess;
    const WorkRecord record(function, line, stream, false);
    const size_t bytes = (height - 1) * pitch + width;
    const Place place = place_of(to, bytes);
    note_written(function, line, to, pitch, width, height);
    if (const BadPointer bad = find_bad_pointer(to, "cudaGetSymbolAddress"); !bad.reason.empty())
        return refuse(function, line, "the destination " + bad.reason, bad.kind);
    if (place.side == Side::unknown)
        return refuse(function, line, "the destination is not device memory", FindingKind::copy_direction);
    if (!place.fits)
        return refuse(function, line, describe_too_small("the destination", place.bytes, bytes, "set"),
                      FindingKind::copy_size);
    if (height > 1 && width > pitch) return set_error(cudaErrorInvalidPitchValue);
    report_beyond_buffer(function, "the destination", to, bytes, "set", line);
    const Access access(to, bytes);
    for (size_t row = 0; row < height; ++row) {
        char* const begin = static_cast<char*>(to) + row * pitch;
        if (element_bytes == 1) std::memset(begin, static_cast<int>(value), width);
        for (size_t at = 0; element_bytes > 1 && at < width; at += element_bytes)
            std::memcpy(begin + at, &value, element_bytes);
    }
    return cudaSuccess;
}

cudaError_t copy_3d(const char* function, const cudaMemcpy3DParms& params, int line, Queue queue) {
    const auto place = [](const cudaPitchedPtr& pointer, const cudaPos& at, size_t z) {
        return static_cast<char*>(pointer.ptr) + ((at.z + z) * pointer.ysize + at.y) * pointer.pitch + at.x;
    };
    for (size_t z = 0; z < params.extent.depth; ++z) {
        const cudaError_t error = copy(function, place(params.dstPtr, params.dstPos, z), params.dstPtr.pitch,
                                       place(params.srcPtr, params.srcPos, z), params.srcPtr.pitch, params.extent.width,
                                       params.extent.height, params.kind, line, queue);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

/// Do the work of a call for which the host waits.
template <class Work>
cudaError_t do_at_once(const Work& work) {
    if (!running_captures) return work();
    if (const auto error = refuse_wait(cudaStream_t{nullptr}); error != cudaSuccess) return error;
    if (const auto error = refuse_while_capturing(); error != cudaSuccess) return error;
    return work();
}

}  // namespace

static cudaError_t copy_to_symbol_in(Queue queue, const void* symbol, size_t symbol_bytes, const void* from,
                                     size_t bytes, size_t offset, cudaMemcpyKind kind, const Room& room, int line) {
    char* const to = static_cast<char*>(const_cast<void*>(symbol)) + offset;
    WorkRecord record("cudaMemcpyToSymbol", line, queue.stream, queue.host_waits);
    note_written("cudaMemcpyToSymbol", line, to, bytes, bytes, 1);
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return refuse("cudaMemcpyToSymbol", line, "the direction should end on the device", FindingKind::copy_direction,
                      cudaErrorInvalidMemcpyDirection);
    if (offset > symbol_bytes || bytes > symbol_bytes - offset)
        return refuse_symbol("cudaMemcpyToSymbol", symbol, symbol_bytes, offset, bytes, line);
    if (bytes == 0) return cudaSuccess;
    if (const BadPointer bad = find_bad_pointer(from, "cudaMemcpyFromSymbol"); !bad.reason.empty())
        return refuse("cudaMemcpyToSymbol", line, "the source " + bad.reason, bad.kind);
    if (const std::string reason = describe_beyond_variable(bytes, room); !reason.empty())
        return refuse("cudaMemcpyToSymbol", line, reason, FindingKind::copy_beyond_variable);
    if (const std::string reason = describe_beyond_heap(nullptr, 0, from, bytes); !reason.empty())
        return refuse("cudaMemcpyToSymbol", line, reason, FindingKind::copy_beyond_heap);
    const Side side = place_of(from, bytes).side;
    if (side != Side::device && side != Side::managed && kind == cudaMemcpyDeviceToDevice)
        return refuse("cudaMemcpyToSymbol", line, "the source should be device memory, but is host memory",
                      FindingKind::copy_direction);
    if (side == Side::device && kind == cudaMemcpyHostToDevice)
        return refuse("cudaMemcpyToSymbol", line, "the source should be host memory, but is device memory",
                      FindingKind::copy_direction);
    report_beyond_buffer("cudaMemcpyToSymbol", "the source", from, bytes, "copied", line);
    note_read(from, bytes, bytes, 1);
    const Access access(from, bytes);
    std::memmove(to, from, bytes);
    return cudaSuccess;
}

static cudaError_t copy_from_symbol_in(Queue queue, void* to, const void* symbol, size_t symbol_bytes, size_t bytes,
                                       size_t offset, cudaMemcpyKind kind, const Room& room, int line) {
    WorkRecord record("cudaMemcpyFromSymbol", line, queue.stream, queue.host_waits);
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return refuse("cudaMemcpyFromSymbol", line, "the direction should begin on the device",
                      FindingKind::copy_direction, cudaErrorInvalidMemcpyDirection);
    if (offset > symbol_bytes || bytes > symbol_bytes - offset)
        return refuse_symbol("cudaMemcpyFromSymbol", symbol, symbol_bytes, offset, bytes, line);
    if (bytes == 0) return cudaSuccess;
    const char* const symbol_begin = static_cast<const char*>(symbol) + offset;
    if (const BadPointer bad = find_bad_pointer(to, "cudaMemcpyToSymbol"); !bad.reason.empty())
        return refuse("cudaMemcpyFromSymbol", line, "the destination " + bad.reason, bad.kind);
    if (const std::string reason = describe_beyond_variable(bytes, room); !reason.empty())
        return refuse("cudaMemcpyFromSymbol", line, reason, FindingKind::copy_beyond_variable);
    if (const std::string reason = describe_beyond_heap(to, bytes, nullptr, 0); !reason.empty())
        return refuse("cudaMemcpyFromSymbol", line, reason, FindingKind::copy_beyond_heap);
    const Side side = place_of(to, bytes).side;
    if (side != Side::device && side != Side::managed && kind == cudaMemcpyDeviceToDevice)
        return refuse("cudaMemcpyFromSymbol", line, "the destination should be device memory, but is host memory",
                      FindingKind::copy_direction);
    if (side == Side::device && kind == cudaMemcpyDeviceToHost)
        return refuse("cudaMemcpyFromSymbol", line, "the destination should be host memory, but is device memory",
                      FindingKind::copy_direction);
    if (side == Side::unknown) record.let_host_wait();  // the destination is not pinned
    report_beyond_buffer("cudaMemcpyFromSymbol", "the destination", to, bytes, "copied", line);
    note_read(symbol_begin, bytes, bytes, 1);
    if (side != Side::device && side != Side::managed) count_host_bytes(bytes, line);
    const Access access(to, bytes);
    note_written("cudaMemcpyFromSymbol", line, to, bytes, bytes, 1);
    std::memmove(to, symbol_begin, bytes);
    return cudaSuccess;
}

static cudaError_t copy_symbol(Queue queue, const Action& work) {
    if (queue.host_waits) return do_at_once([&] { return work(nullptr); });
    return do_in_stream(queue.stream, cudaGraphNodeTypeMemcpy, work);
}

cudaError_t copy_to_symbol(const void* symbol, size_t symbol_bytes, const void* from, size_t bytes, size_t offset,
                           cudaMemcpyKind kind, Room room, int line, Queue queue) {
    return copy_symbol(queue, [=](cudaStream_t where) {
        return copy_to_symbol_in({where, queue.host_waits}, symbol, symbol_bytes, from, bytes, offset, kind, room,
                                 line);
    });
}

cudaError_t copy_from_symbol(void* to, const void* symbol, size_t symbol_bytes, size_t bytes, size_t offset,
                             cudaMemcpyKind kind, Room room, int line, Queue queue) {
    return copy_symbol(queue, [=](cudaStream_t where) {
        return copy_from_symbol_in({where, queue.host_waits}, to, symbol, symbol_bytes, bytes, offset, kind, room,
                                   line);
    });
}

cudaError_t copy_memory(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Room room, int line) {
    return do_at_once([=] { return copy("cudaMemcpy", to, bytes, from, bytes, bytes, 1, kind, line, {}, room); });
}
cudaError_t copy_memory(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, Room room, int line,
                        cudaStream_t stream) {
    return do_in_stream(stream, cudaGraphNodeTypeMemcpy, [=](cudaStream_t where) {
        return copy("cudaMemcpyAsync", to, bytes, from, bytes, bytes, 1, kind, line, {where, false}, room);
    });
}

cudaError_t copy_in_stream(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, int line,
                           cudaStream_t stream) {
    return copy("cudaGraphAddMemcpyNode1D", to, bytes, from, bytes, bytes, 1, kind, line, {stream, false});
}
cudaError_t copy_in_stream(const cudaMemcpy3DParms& params, int line, cudaStream_t stream) {
    return copy_3d("cudaGraphAddMemcpyNode", params, line, {stream, false});
}
cudaError_t fill_in_stream(const cudaMemsetParams& params, int line, cudaStream_t stream) {
    return fill("cudaGraphAddMemsetNode", params.dst, params.height > 1 ? params.pitch : 0, params.value,
                params.elementSize, params.width * params.elementSize, params.height, line, stream);
}

cudaError_t get_symbol_address(void** address, const void* symbol) {
    if (address) note_address_requested(symbol);
    return store_result(address, const_cast<void*>(symbol));
}

}  // namespace warplab_cpu

using namespace warplab_cpu;

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind, Line line) {
    return do_at_once([=] { return copy("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, line); });
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream, Line line) {
    return do_in_stream(stream, cudaGraphNodeTypeMemcpy, [=](cudaStream_t where) {
        return copy("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, line, {where, false});
    });
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* params, Line line) {
    if (!params || params->srcArray || params->dstArray) return set_error(cudaErrorInvalidValue);
    return do_at_once([&] { return copy_3d("cudaMemcpy3D", *params, line, {}); });
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* params, cudaStream_t stream, Line line) {
    if (!params || params->srcArray || params->dstArray) return set_error(cudaErrorInvalidValue);
    return do_in_stream(stream, cudaGraphNodeTypeMemcpy, [copy = *params, line](cudaStream_t where) {
        return copy_3d("cudaMemcpy3DAsync", copy, line, {where, false});
    });
}

static cudaError_t fill_in(cudaStream_t stream, const char* function, void* to, size_t pitch, int value, size_t width,
                           size_t height, int line) {
    return do_in_stream(stream, cudaGraphNodeTypeMemset, [=](cudaStream_t where) {
        return fill(function, to, pitch, value, 1, width, height, line, where);
    });
}
cudaError_t cudaMemset(void* to, int value, size_t bytes, Line line) {
    return fill_in(nullptr, "cudaMemset", to, bytes, value, bytes, 1, line);
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream, Line line) {
    return fill_in(stream, "cudaMemsetAsync", to, bytes, value, bytes, 1, line);
}
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height, Line line) {
    return fill_in(nullptr, "cudaMemset2D", to, pitch, value, width, height, line);
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream,
                              Line line) {
    return fill_in(stream, "cudaMemset2DAsync", to, pitch, value, width, height, line);
}
static cudaError_t fill_3d(cudaStream_t stream, const char* function, const cudaPitchedPtr& to, int value,
                           const cudaExtent& extent, int line) {
    for (size_t z = 0; z < extent.depth; ++z) {
        char* const slice = static_cast<char*>(to.ptr) + z * to.pitch * to.ysize;
        const cudaError_t error = fill_in(stream, function, slice, to.pitch, value, extent.width, extent.height, line);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent, Line line) {
    return fill_3d(nullptr, "cudaMemset3D", to, value, extent, line);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream, Line line) {
    return fill_3d(stream, "cudaMemset3DAsync", to, value, extent, line);
}
