// malloc, new, free and delete of a submission. In host code, they record where each block ends. In device code, they
// take memory from one allocation of the device. A grid reuses freed memory only after it has got many bytes: with the
// sanitizer, blocks run one after the other, and a block that gets memory that another block has freed would seem to
// race with it. Addresses are the same with and without the sanitizer.

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <unordered_map>

#include "grader/cpu/include/warplab_cpu/api.h"
#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/memory.h"
#include "grader/cpu/runtime/observer.h"
#include "grader/cpu/runtime/scheduler.h"

namespace warplab_cpu {

uint64_t launch_count();

namespace {

constexpr size_t alignment = 16;
constexpr size_t fresh_bytes = size_t{16} << 20;  // bytes that a grid gets before freed memory is reused
constexpr size_t step_bytes = size_t{16} << 20;   // bytes that become writable at once and count for the memory limit

size_t heap_limit() {
    size_t limit = 0;
    cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
    return limit;
}

class DeviceHeap {
  public:
    /// Return null, as on a GPU, if the memory in use would exceed cudaLimitMallocHeapSize.
    void* take(size_t bytes) {
        const std::lock_guard lock(mutex_);
        const size_t limit = heap_limit();
        if (bytes == 0 || bytes > limit || live_bytes_ > limit - bytes) return nullptr;
        if (live_bytes_ == 0 && grid_ != launch_count()) begin_grid();
        grid_ = launch_count();
        const size_t reserved_bytes = (bytes + alignment - 1) / alignment * alignment + alignment;
        char* const place =
            used_ >= fresh_bytes && freed_.count(reserved_bytes) ? renew(reserved_bytes) : extend(reserved_bytes);
        if (!place) return nullptr;
        live_bytes_ += bytes;
        allocations_[place] = {bytes, reserved_bytes};
        return place;
    }
    void give_back(void* place) {
        const std::lock_guard lock(mutex_);
        const auto iterator = allocations_.find(place);
        if (iterator == allocations_.end()) return;
        live_bytes_ -= iterator->second.bytes;
        freed_[iterator->second.reserved_bytes].push_back(static_cast<char*>(place));
        allocations_.erase(iterator);
    }
    bool has(const void* place) const {
        return begin_ && static_cast<size_t>(static_cast<const char*>(place) - begin_) < all_bytes_;
    }
    bool is_used() const { return live_bytes_ != 0; }

  private:
    struct Allocation {
        size_t bytes, reserved_bytes;  // reserved: including the gap to the next allocation
    };
    void begin_grid() {
        if (observer && begin_) observer->memory_renewed(begin_, used_);
        used_ = 0;
        freed_.clear();
    }
    char* renew(size_t reserved_bytes) {
        std::deque<char*>& same_size = freed_[reserved_bytes];
        char* const place = same_size.front();
        same_size.pop_front();
        if (same_size.empty()) freed_.erase(reserved_bytes);
        if (observer) observer->memory_renewed(place, reserved_bytes - alignment);
        return place;
    }
    char* extend(size_t reserved_bytes) {
        if (!begin_) reserve();
        if (reserved_bytes > all_bytes_ - used_) return freed_.count(reserved_bytes) ? renew(reserved_bytes) : nullptr;
        while (writable_ < used_ + reserved_bytes) {
            const size_t step = std::min(step_bytes, all_bytes_ - writable_);
            if (mprotect(begin_ + writable_, step, PROT_READ | PROT_WRITE) != 0) return nullptr;
            writable_ += step;
        }
        char* const place = begin_ + used_;
        used_ += reserved_bytes;
        return place;
    }
    void reserve() {
        all_bytes_ = 4 * fresh_bytes + 2 * heap_limit();
        void* memory = mmap(nullptr, all_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) end_with_fault(warplab::Fault::no_memory, "no memory for the device's heap");
        begin_ = static_cast<char*>(memory);
        if (observer)
            observer->memory_begins(begin_, all_bytes_, begin_, all_bytes_, {"malloc() in a kernel", false, 0});
    }

    std::mutex mutex_;  // without the sanitizer, several OS threads run kernels
    char* begin_ = nullptr;
    size_t all_bytes_ = 0, writable_ = 0, used_ = 0;
    std::atomic<size_t> live_bytes_{0};
    std::unordered_map<void*, Allocation> allocations_;
    std::unordered_map<size_t, std::deque<char*>> freed_;  // by reserved_bytes, the oldest first
    uint64_t grid_ = 0;                                    // the launch of the last take()
};

DeviceHeap& heap() {
    static DeviceHeap& only = *new DeviceHeap;  // never destroyed: the student's destructors may free memory
    return only;
}

/// The blocks of the host's heap that the submission has allocated. A library may free some of them unnoticed.
class HostBlocks {
  public:
    void add(void* place, size_t bytes) {
        if (!place) return;
        const std::lock_guard lock(mutex_);
        blocks_[number(place)] = {bytes, malloc_usable_size(place)};
    }
    /// Return whether the block was known.
    bool remove(void* place) {
        const std::lock_guard lock(mutex_);
        return blocks_.erase(number(place)) != 0;
    }
    size_t bytes_left(const void* address) {
        const std::lock_guard lock(mutex_);
        const auto after = blocks_.upper_bound(number(address));
        if (after == blocks_.begin()) return SIZE_MAX;
        const auto& [begin, block] = *std::prev(after);
        const uintptr_t at = number(address) - begin;
        const bool is_live = malloc_usable_size(reinterpret_cast<void*>(begin)) == block.usable_bytes;
        return at < block.bytes && is_live ? block.bytes - at : SIZE_MAX;
    }

  private:
    struct Block {
        size_t bytes, usable_bytes;
    };
    static uintptr_t number(const void* place) { return reinterpret_cast<uintptr_t>(place); }

    std::mutex mutex_;
    std::map<uintptr_t, Block> blocks_;  // by their first address
};

HostBlocks& host_blocks() {
    static HostBlocks& only = *new HostBlocks;
    return only;
}

void* host_malloc(size_t bytes) {
    void* const place = malloc(bytes);
    host_blocks().add(place, bytes);
    return place;
}

void* device_malloc(size_t bytes) {
    void* const place = heap().take(bytes);
    if (place) fill_poison(place, bytes);
    return place;
}

void release(void* place) {
    if (heap().has(place)) return heap().give_back(place);
    host_blocks().remove(place);
    free(place);
}

}  // namespace

bool has_unlisted_memory() { return heap().is_used(); }

size_t heap_bytes_left(const void* address) { return host_blocks().bytes_left(address); }

void* new_memory(size_t bytes) {
    if (in_kernel()) return device_malloc(bytes);
    void* const place = host_malloc(bytes ? bytes : 1);
    if (!place) throw std::bad_alloc();
    return place;
}
void delete_memory(void* place) noexcept { release(place); }

}  // namespace warplab_cpu

// seen.h gives the names of the first two to the C library's functions; the judge renames calls of the third.
extern "C" {
__attribute__((visibility("default"))) void* warplab_seen_malloc(size_t bytes) {
    return warplab_cpu::in_kernel() ? warplab_cpu::device_malloc(bytes) : warplab_cpu::host_malloc(bytes);
}
__attribute__((visibility("default"))) void warplab_seen_free(void* place) { warplab_cpu::release(place); }
__attribute__((visibility("default"))) void* warplab_library_realloc(void* place, size_t bytes) {
    const bool is_known = warplab_cpu::host_blocks().remove(place);  // in programs without hooks, free() is unknown
    void* const moved = realloc(place, bytes);
    if (is_known) warplab_cpu::host_blocks().add(moved, bytes);
    return moved;
}
}
