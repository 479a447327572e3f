// malloc, new, free and delete of device code. While the sanitizer inspects a kernel, they take from one allocation of
// the device's, no part of which is given out twice in a grid: blocks run one after the other, and one that got what
// another has freed would seem to race with it.

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>
#include <new>

#include "grader/cpu/include/warplab_cpu/api.h"
#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/memory.h"
#include "grader/cpu/runtime/observer.h"
#include "grader/cpu/runtime/scheduler.h"

namespace warplab_cpu {

uint64_t launch_count();

namespace {

constexpr size_t alignment = 16, inspected_bytes = size_t{64} << 20;

/// Memory that the sanitizer sees as one allocation. Only one OS thread runs kernels with it.
class InspectedHeap {
  public:
    void* take(size_t bytes) {
        if (!begin_) reserve();
        if (taken_ == 0 && grid_ != launch_count()) used_ = 0;
        grid_ = launch_count();
        const size_t whole = (bytes + alignment - 1) / alignment * alignment + alignment;
        if (whole > inspected_bytes - used_) return nullptr;
        char* const place = begin_ + used_ + alignment;
        size_before(place) = bytes;
        used_ += whole;
        ++taken_;
        return place;
    }
    size_t give_back(void* place) {
        --taken_;
        return size_before(place);
    }
    bool has(const void* place) const {
        return begin_ && static_cast<size_t>(static_cast<const char*>(place) - begin_) < inspected_bytes;
    }

  private:
    static size_t& size_before(void* place) {
        return *reinterpret_cast<size_t*>(static_cast<char*>(place) - alignment);
    }
    void reserve() {
        void* memory =
            mmap(nullptr, inspected_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) end_with_fault(warplab::Fault::refused, "no memory for the device's heap");
        begin_ = static_cast<char*>(memory);
        observer->memory_begins(begin_, inspected_bytes, begin_, inspected_bytes, false, 0);
    }

    char* begin_ = nullptr;
    size_t used_ = 0, taken_ = 0;
    uint64_t grid_ = 0;  // the launch of the last take()
};

InspectedHeap heap;
std::atomic<size_t> live_bytes{0};

/// Null, as on the device, when the heap of cudaLimitMallocHeapSize is full.
void* device_malloc(size_t bytes) {
    size_t limit = 0;
    cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
    if (bytes == 0 || bytes > limit || live_bytes.load() > limit - bytes) return nullptr;
    void* const place = observer ? heap.take(bytes) : malloc(bytes);
    if (!place) return nullptr;
    live_bytes += observer ? bytes : malloc_usable_size(place);
    fill_poison(place, bytes);
    return place;
}

void release(void* place) {
    if (heap.has(place)) {
        live_bytes -= heap.give_back(place);
        return;
    }
    if (in_kernel() && place) live_bytes -= malloc_usable_size(place);
    free(place);
}

}  // namespace

bool has_unlisted_memory() { return live_bytes != 0; }

void* new_memory(size_t bytes) {
    if (in_kernel()) return device_malloc(bytes);
    void* const place = malloc(bytes ? bytes : 1);
    if (!place) throw std::bad_alloc();
    return place;
}
void delete_memory(void* place) noexcept { release(place); }

}  // namespace warplab_cpu

// By the names that seen.h gives the C library's.
extern "C" {
__attribute__((visibility("default"))) void* warplab_seen_malloc(size_t bytes) {
    return warplab_cpu::in_kernel() ? warplab_cpu::device_malloc(bytes) : malloc(bytes);
}
__attribute__((visibility("default"))) void warplab_seen_free(void* place) { warplab_cpu::release(place); }
}
