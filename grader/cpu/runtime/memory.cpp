#include "grader/cpu/runtime/memory.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "grader/cpu/include/warplab_cpu/api.h"
#include "grader/cpu/runtime/capture.h"
#include "grader/cpu/runtime/error.h"
#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/observer.h"
#include "grader/cpu/runtime/scheduler.h"
#include "grader/cpu/runtime/timeline.h"

extern "C" const char __data_start, _end;  // the bounds of the program's variables, from the linker

namespace warplab_cpu {
namespace {

constexpr size_t page_bytes = 4096, chunk_bytes = 64 * 1024, alignment = 256;
constexpr size_t max_hidden_bytes = size_t{4} << 20;  // each page that becomes visible costs time at a launch
// A kernel's first access to a hidden chunk makes the chunk visible; after `max_faults` such accesses, the whole region
// becomes visible. The next launches begin with the same visible memory, until the runtime determines again which
// memory kernels need.
constexpr unsigned max_faults = 4, max_similar_launches = 16;
constexpr size_t max_poisoned_bytes = size_t{256} << 20;

struct Region {
    size_t bytes;
    Side side;
    char* mapping = nullptr;  // the argument of munmap; null for memory that the runtime did not map
    size_t mapping_bytes = 0;
    char* pages = nullptr;  // the protected range: whole pages, or null
    size_t pages_bytes = 0;
    std::vector<uint32_t> handed_over = {};  // by chunk: the last round of protection in which it was handed over
    std::vector<uint32_t> visible = {};      // chunks that are not hidden now; reserved, as a signal handler adds to it
    std::vector<uint32_t> expected = {};     // the visible chunks of the previous launch
    bool wholly_visible = false, wholly_expected = false;
    unsigned faults = 0;      // page faults in this launch
    std::uint64_t calls = 0;  // of the contract function that had begun when this was allocated
};

using Regions = std::map<uintptr_t, Region>;
std::mutex mutex;
// Never destroyed, and created at the first use: constructors register the student's __device__ variables before main.
Regions& regions() {
    static Regions& all = *new Regions;
    return all;
}
std::map<uintptr_t, NamedVariable>& symbols() {
    static auto& all = *new std::map<uintptr_t, NamedVariable>;
    return all;
}
std::map<uintptr_t, size_t>& freed() {  // freed memory: the number of bytes, by the beginning
    static auto& all = *new std::map<uintptr_t, size_t>;
    return all;
}
std::map<uintptr_t, size_t>& host_buffers() {  // the runner's buffers: whole pages, keyed by their beginning
    static auto& all = *new std::map<uintptr_t, size_t>;
    return all;
}
std::atomic<bool> symbols_are_missing{false};
std::atomic<size_t> symbol_count{0};  // the sanitizer queries it at each host access
std::atomic<int64_t> allocated{0};
std::atomic<uint64_t> to_host{0}, host_limit{~uint64_t{0}};
bool hiding = false;
uint32_t round_of_protection = 1;  // increases before and after each grid
unsigned launches_in_a_row = 0;    // since the last hide_left_visible()
bool left_visible = false;         // device memory that the last launch used may be visible

uintptr_t number(const volatile void* address) { return reinterpret_cast<uintptr_t>(address); }

/// Return the element that contains the address, in a map from the elements' beginnings; end() if there is none.
template <class Map, class Bytes>
typename Map::iterator find_containing(Map& map, const void* address, Bytes bytes_of) {
    auto after = map.upper_bound(number(address));
    if (after == map.begin()) return map.end();
    --after;
    return number(address) < after->first + bytes_of(after->second) ? after : map.end();
}

Regions::iterator find(const void* address) {
    return find_containing(regions(), address, [](const Region& region) { return region.bytes; });
}

auto find_symbol(const void* address) {
    return find_containing(symbols(), address, [](const NamedVariable& variable) { return variable.bytes; });
}

bool holds_host_buffer(const void* address) {
    const auto bytes_of = [](size_t bytes) { return bytes; };
    return find_containing(host_buffers(), address, bytes_of) != host_buffers().end();
}

bool can_hide(const Region& region) { return region.pages && region.pages_bytes <= max_hidden_bytes; }

void protect(const Region& region, int protection) {
    if (can_hide(region)) mprotect(region.pages, region.pages_bytes, protection);
}

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Set the protected range. Called before the region is used.
void set_pages(Region& region, char* begin, size_t bytes) {
    region.pages = begin;
    region.pages_bytes = bytes;
    if (!can_hide(region)) return;
    const size_t chunks = bytes / chunk_bytes + 1;
    region.handed_over.resize(chunks);
    region.visible.reserve(chunks);
    region.expected.reserve(chunks);
}

void protect_chunk(const Region& region, size_t chunk, int protection) {
    const size_t begin = chunk * chunk_bytes;
    mprotect(region.pages + begin, std::min(chunk_bytes, region.pages_bytes - begin), protection);
}

void make_visible(Region& region) {
    region.wholly_visible = true;
    region.visible.clear();
    protect(region, PROT_READ | PROT_WRITE);
}

void make_visible(Region& region, size_t chunk) {
    region.visible.push_back(static_cast<uint32_t>(chunk));
    protect_chunk(region, chunk, PROT_READ | PROT_WRITE);
}

void hide(Region& region) {
    if (region.wholly_visible) protect(region, PROT_NONE);
    for (const uint32_t chunk : region.visible) protect_chunk(region, chunk, PROT_NONE);
    region.wholly_expected = region.wholly_visible;
    region.wholly_visible = false;
    std::swap(region.visible, region.expected);
    region.visible.clear();
}

/// Make the memory visible that the previous launch needed.
void show_expected(Region& region) {
    if (region.wholly_visible) return;
    if (region.wholly_expected) return make_visible(region);
    for (const uint32_t chunk : region.expected)
        if (std::ranges::find(region.visible, chunk) == region.visible.end()) make_visible(region, chunk);
}

/// Allocate memory between two inaccessible pages, so that a kernel that exceeds its end faults.
cudaError_t allocate(void** pointer, size_t bytes, Side side, const char* call, int line) {
    if (!pointer) return set_error(cudaErrorInvalidValue);
    const DeviceLock device = lock_device();
    *pointer = nullptr;
    if (const auto error = refuse_while_capturing(); error != cudaSuccess) return error;
    if (bytes == 0) return cudaSuccess;
    if (bytes > device_bytes || allocated + static_cast<int64_t>(bytes) > static_cast<int64_t>(device_bytes))
        return set_error(cudaErrorMemoryAllocation);
    const size_t used = round_up(bytes, alignment), inner = round_up(used, page_bytes), all = inner + 2 * page_bytes;
    void* mapping = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return set_error(cudaErrorMemoryAllocation);
    char* pages = static_cast<char*>(mapping) + page_bytes;
    if (mprotect(pages, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(mapping, all);
        return set_error(cudaErrorMemoryAllocation);
    }
    char* begin = pages + inner - used;
    fill_poison(begin, std::min(bytes, max_poisoned_bytes));
    Region region{bytes, side, static_cast<char*>(mapping), all};
    set_pages(region, pages, inner);
    region.wholly_visible = true;
    if (side == Side::device && hiding) hide(region);
    if (side != Side::pinned) allocated += static_cast<int64_t>(bytes);
    region.calls = status_page().calls;
    {
        std::lock_guard lock(mutex);
        regions()[number(begin)] = std::move(region);
    }
    if (observer) observer->memory_begins(begin, bytes, mapping, all, {call, side != Side::device, line});
    *pointer = begin;
    return cudaSuccess;
}

/// Set the protected range of registered memory to its complete pages, because other data may share its first and last
/// page.
void set_whole_pages(Region& region, char* begin) {
    const uintptr_t first = round_up(number(begin), page_bytes);
    const uintptr_t end = (number(begin) + region.bytes) / page_bytes * page_bytes;
    if (first < end) set_pages(region, reinterpret_cast<char*>(first), end - first);
}

bool is_mapped(void* pointer, size_t bytes) {
    const uintptr_t begin = number(pointer) / page_bytes * page_bytes;
    const bool fits = pointer && bytes > 0 && bytes <= ~uintptr_t{0} - number(pointer);
    return fits && msync(reinterpret_cast<void*>(begin), number(pointer) + bytes - begin, MS_ASYNC) == 0;
}

bool overlaps_region(void* pointer, size_t bytes) {
    const auto next = regions().lower_bound(number(pointer));
    return find(pointer) != regions().end() || (next != regions().end() && next->first < number(pointer) + bytes);
}

/// Describe why cudaFree or cudaFreeHost refuses this pointer; return an empty string if the registry does not know it.
std::string explain_refused_free(const void* pointer) {
    const auto iterator = find(pointer);
    if (iterator == regions().end() && freed().count(number(pointer))) return "that memory was freed before";
    if (iterator == regions().end())
        return symbols().count(number(pointer)) ? "a __device__ variable is never freed" : "";
    if (!iterator->second.mapping) return "it points to one of the lab's buffers, which the lab frees";
    if (const uintptr_t into = number(pointer) - iterator->first)
        return "it points " + std::to_string(into) +
               " bytes after the beginning of an allocation: free the pointer that the allocation returned";
    return iterator->second.side == Side::pinned ? "it is from cudaMallocHost: cudaFreeHost frees that"
                                                 : "it is from cudaMalloc: cudaFree frees that";
}

void remember_freed(uintptr_t begin, size_t bytes) {
    constexpr size_t max_freed = 1000;
    if (freed().size() >= max_freed) freed().clear();
    freed()[begin] = bytes;
}

/// Free the pages but keep their addresses reserved: if a later allocation got them, the sanitizer would not notice
/// uses of the freed memory. The runtime does the same without the sanitizer, so that programs cannot detect the
/// sanitizer.
void unmap(const Region& region) {
    constexpr size_t max_reserved =
        size_t{1} << 40;  // 1/128 of the address space; more than a program can free within its time limit
    static std::atomic<size_t> reserved{0};
    if ((reserved += region.mapping_bytes) > max_reserved ||
        mmap(region.mapping, region.mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
             -1, 0) == MAP_FAILED) {
        std::lock_guard lock(mutex);
        freed().clear();  // the host may use the addresses now
        munmap(region.mapping, region.mapping_bytes);
    }
}

cudaError_t release(void* pointer, bool pinned, const char* function, void* caller) {
    if (!pointer) return cudaSuccess;
    if (const auto error = refuse_while_capturing(); error != cudaSuccess) return error;
    const DeviceLock device = lock_device();
    Region region;
    {
        std::lock_guard lock(mutex);
        const auto iterator = regions().find(number(pointer));
        if (iterator == regions().end() || !iterator->second.mapping ||
            (iterator->second.side == Side::pinned) != pinned) {
            const std::string reason = explain_refused_free(pointer);
            if (observer) observer->freed_wrongly(pointer, function, reason, caller);
            note_detail(std::string(function) + ": " +
                        (reason.empty() ? "no CUDA function allocated this memory" : reason));
            return set_error(cudaErrorInvalidValue);
        }
        region = iterator->second;
        regions().erase(iterator);
        remember_freed(number(pointer), region.bytes);
    }
    if (observer) observer->memory_ends(pointer);
    unmap(region);
    if (!pinned) allocated -= static_cast<int64_t>(region.bytes);
    return cudaSuccess;
}

}  // namespace

Place place_of(const void* address, size_t bytes) {
    std::lock_guard lock(mutex);
    if (const auto iterator = find(address); iterator != regions().end()) {
        const size_t left = iterator->first + iterator->second.bytes - number(address);
        return {iterator->second.side, bytes <= left, left};
    }
    const auto symbol = find_symbol(address);
    if (symbol == symbols().end()) return {};
    const size_t left = symbol->first + symbol->second.bytes - number(address);
    return {Side::device, bytes <= left, left};
}

std::vector<Range> memory_of_kernels() {
    std::lock_guard lock(mutex);
    std::vector<Range> all;
    for (const auto& [begin, region] : regions()) all.push_back({reinterpret_cast<const void*>(begin), region.bytes});
    for (const auto& [begin, variable] : symbols())
        all.push_back({reinterpret_cast<const void*>(begin), variable.bytes});
    return all;
}

void note_address_requested(const void* symbol) {
    std::lock_guard lock(mutex);
    if (const auto iterator = find_symbol(symbol); iterator != symbols().end())
        iterator->second.address_requested = true;
}

const char* variable_by_name(const void* address) {
    std::lock_guard lock(mutex);
    const auto iterator = find_symbol(address);
    if (iterator == symbols().end() || iterator->second.managed || iterator->second.address_requested) return nullptr;
    return iterator->second.name;
}

bool was_freed(const void* address) {
    std::lock_guard lock(mutex);
    const auto iterator = find_containing(freed(), address, [](size_t bytes) { return bytes; });
    return iterator != freed().end();
}

void hide_left_visible() {
    if (!hiding) return;
    std::lock_guard lock(mutex);
    launches_in_a_row = 0;
    if (!std::exchange(left_visible, false)) return;
    for (auto& [begin, region] : regions())
        if (region.side == Side::device) hide(region);
}

void add_host_buffer(void* memory, size_t bytes) {
    std::lock_guard lock(mutex);
    host_buffers()[number(memory)] = bytes;
}

void remove_host_buffer(void* memory) {
    std::lock_guard lock(mutex);
    host_buffers().erase(number(memory));
}

Access::Access(const void* address, size_t bytes) {
    hide_left_visible();
    std::lock_guard lock(mutex);
    const auto iterator = find(address);
    if (bytes == 0 || iterator == regions().end() || iterator->second.side != Side::device || !hiding ||
        !can_hide(iterator->second))
        return;
    const uintptr_t begin = number(address) / page_bytes * page_bytes;
    begin_ = reinterpret_cast<void*>(begin);
    bytes_ = round_up(number(address) + bytes - begin, page_bytes);
    mprotect(begin_, bytes_, PROT_READ | PROT_WRITE);
}

Access::~Access() {
    if (begin_) mprotect(begin_, bytes_, PROT_NONE);
}

/// Set the protection of the host buffers that are not registered: a GPU cannot access these.
void protect_host_buffers(int protection) {
    for (const auto& [begin, bytes] : host_buffers()) {
        const auto is_registered = [begin = begin, end = begin + bytes](const auto& entry) {
            return entry.second.side == Side::pinned && entry.first < end && begin < entry.first + entry.second.bytes;
        };
        if (std::ranges::none_of(regions(), is_registered)) mprotect(reinterpret_cast<void*>(begin), bytes, protection);
    }
}

void show_to_kernels() {
    if (!hiding) return;
    std::lock_guard lock(mutex);
    protect_host_buffers(PROT_NONE);
    const bool expects = ++round_of_protection % (2 * max_similar_launches) > 1;
    for (auto& [begin, region] : regions()) {
        region.faults = 0;
        if (region.side == Side::pinned)
            protect(region, PROT_READ);
        else if (expects)
            show_expected(region);
    }
}

void hide_from_host() {
    if (!hiding) return;
    constexpr unsigned always_hidden_launches = 256, launches_per_hiding = 16;  // hiding takes longer than a small grid
    std::lock_guard lock(mutex);
    ++round_of_protection;
    protect_host_buffers(PROT_READ | PROT_WRITE);
    left_visible = ++launches_in_a_row > always_hidden_launches && launches_in_a_row % launches_per_hiding != 0;
    for (auto& [begin, region] : regions()) {
        if (region.side == Side::pinned)
            protect(region, PROT_READ | PROT_WRITE);
        else if (region.side != Side::device || !left_visible)
            hide(region);
    }
}

/// Lock the mutex in a signal handler: several threads may fault at the same time, but a thread that faults does not
/// hold the mutex.
bool try_lock_repeatedly(std::unique_lock<std::mutex>& lock) {
    constexpr int max_tries = 100'000;
    for (int i = 0; i < max_tries && !lock; ++i) {
        if (!lock.try_lock()) sched_yield();
    }
    return lock.owns_lock();
}

namespace {

/// Make a hidden chunk visible because a kernel accesses it; after `max_faults` faults, make the whole region visible.
void show_chunk(Region& region, size_t chunk) {
    if (++region.faults <= max_faults)
        make_visible(region, chunk);
    else
        make_visible(region);
}

/// Make a chunk accessible and count its bytes as copied: a kernel writes pinned memory, or the host accesses managed
/// memory.
void copy_chunk(Region& region, size_t chunk) {
    if (region.side == Side::pinned)
        protect_chunk(region, chunk, PROT_READ | PROT_WRITE);
    else
        make_visible(region, chunk);
    count_host_bytes(std::min(chunk_bytes, region.pages_bytes - chunk * chunk_bytes), 0);
}

}  // namespace

bool hand_over(const void* address, bool in_kernel) {
    if (!hiding) return false;
    std::unique_lock lock(mutex, std::defer_lock);
    if (!try_lock_repeatedly(lock)) return false;
    if (holds_host_buffer(address)) {
        if (!in_kernel) protect_host_buffers(PROT_READ | PROT_WRITE);  // another host thread, which may access them
        return !in_kernel;
    }
    const auto iterator = find(address);
    if (iterator == regions().end()) return false;
    Region& region = iterator->second;
    const size_t chunk = (number(address) - number(region.pages)) / chunk_bytes;
    if (chunk >= region.handed_over.size() || (region.side != Side::managed && !in_kernel)) return false;
    const bool pinned = region.side == Side::pinned, whole = region.wholly_visible && !pinned;
    if (whole || region.handed_over[chunk] == round_of_protection) return true;  // another thread was faster
    region.handed_over[chunk] = round_of_protection;
    if (in_kernel && !pinned)
        show_chunk(region, chunk);
    else
        copy_chunk(region, chunk);
    return true;
}

AddressFault explain_address(const void* address, bool in_kernel, bool in_library) {
    using warplab::Fault;
    if (number(address) < page_bytes) return {Fault::null_pointer, "a null pointer was used"};
    std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock) return {Fault::segmentation, ""};
    if (in_kernel && holds_host_buffer(address)) return {Fault::host_memory, "a kernel used host memory"};
    constexpr uintptr_t heap_header = 16;  // free() reads it before the memory that it frees
    const auto after = regions().upper_bound(number(address));
    if (in_library && !in_kernel && after != regions().end() && after->first - number(address) <= heap_header)
        return {Fault::wrong_free, after->second.mapping
                                       ? "memory from cudaMalloc was passed to free() or delete: cudaFree frees it"
                                       : "a buffer of the lab was passed to free() or delete: the lab frees it"};
    const auto iterator = find(address);
    if (iterator != regions().end() && !in_kernel)
        return {Fault::segmentation,
                in_library ? "host code used a pointer to device memory in memcpy(), free() or a similar function"
                           : "host code used a pointer to device memory; copy with cudaMemcpy first"};
    for (const auto& [begin, region] : regions()) {
        const uintptr_t end = begin + region.bytes;
        if (region.mapping && number(address) >= end && number(address) < end + page_bytes + alignment)
            return region.calls == status_page().calls
                       ? AddressFault{Fault::segmentation, "just past the end of memory from cudaMalloc"}
                       : AddressFault{Fault::past_earlier,
                                      "just past the end of memory that was allocated before this call"};
        if (region.mapping && number(address) < begin && number(address) + 2 * page_bytes >= begin)
            return {Fault::segmentation, "just before the beginning of memory from cudaMalloc"};
    }
    return {Fault::segmentation, ""};
}

void count_host_bytes(size_t bytes, int line) {
    const uint64_t total = to_host += bytes;
    if (total <= host_limit) return;
    end_with_fault(warplab::Fault::host_limit,
                   (line ? "line " + std::to_string(line) + ": " : "") + std::to_string(total) +
                       " bytes were copied to the host in one call, " + std::to_string(host_limit) + " are allowed" +
                       (line ? "" : " (managed and mapped memory counts by the page: copy with cudaMemcpy)"));
}

bool is_symbol(const void* address) {
    std::lock_guard lock(mutex);
    return find_symbol(address) != symbols().end();
}

size_t device_variable_count() { return symbol_count; }

std::map<uintptr_t, NamedVariable> device_variables() {
    std::lock_guard lock(mutex);
    return symbols();
}

int64_t allocated_bytes() { return allocated; }
uint64_t host_bytes() { return to_host; }

bool may_be_unlisted_variable(const void* address) {
    return symbols_are_missing && address >= &__data_start && address < &_end;
}

UnlistedSymbols::UnlistedSymbols() { symbols_are_missing = true; }

Symbol::Symbol(const volatile void* address, size_t bytes, const char* name, SymbolKind kind) {
    std::lock_guard lock(mutex);
    symbols()[number(address)] = {bytes, name, kind == SymbolKind::constant, kind == SymbolKind::managed};
    symbol_count = symbols().size();
}

}  // namespace warplab_cpu

namespace warplab::cpu {

using namespace warplab_cpu;

void register_device_memory(void* begin, size_t bytes) {
    Region region{bytes, Side::device};
    if (number(begin) % page_bytes == 0) set_pages(region, static_cast<char*>(begin), round_up(bytes, page_bytes));
    region.wholly_visible = true;
    if (hiding) hide(region);
    std::lock_guard lock(mutex);
    regions()[number(begin)] = std::move(region);
}

void unregister_device_memory(void* begin) {
    std::lock_guard lock(mutex);
    const auto iterator = regions().find(number(begin));
    if (iterator == regions().end()) return;
    if (hiding) protect(iterator->second, PROT_READ | PROT_WRITE);
    const size_t bytes = iterator->second.bytes;
    regions().erase(iterator);
    if (observer) observer->memory_unmapped(begin, bytes);
}

void hide_device_memory(bool on) {
    std::lock_guard lock(mutex);
    hiding = on;
    left_visible = false;
    for (auto& [begin, region] : regions()) {
        make_visible(region);
        if (on && region.side == Side::device) hide(region);
    }
}

void set_host_limit(uint64_t bytes) {
    hide_left_visible();
    host_limit = bytes;
    to_host = 0;
}

}  // namespace warplab::cpu

using namespace warplab_cpu;

cudaError_t cudaMalloc(void** pointer, size_t bytes, Line line) {
    return allocate(pointer, bytes, Side::device, "cudaMalloc", line);
}
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t, Line line) {
    return cudaMalloc(pointer, bytes, line);
}
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned, Line line) {
    return bytes ? allocate(pointer, bytes, Side::managed, "cudaMallocManaged", line)
                 : set_error(cudaErrorInvalidValue);
}
cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned, Line line) {
    return allocate(pointer, bytes, Side::pinned, "cudaMallocHost", line);
}
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned, Line line) {
    return allocate(pointer, bytes, Side::pinned, "cudaHostAlloc", line);
}
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height, Line line) {
    if (!pitch) return set_error(cudaErrorInvalidValue);
    *pitch = round_up(width, 512);
    const cudaError_t error = cudaMalloc(pointer, *pitch * height, line);
    if (observer && error == cudaSuccess) observer->memory_has_rows(*pointer, width, *pitch);
    return error;
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent, Line line) {
    if (!pitched) return set_error(cudaErrorInvalidValue);
    *pitched = make_cudaPitchedPtr(nullptr, 0, extent.width, extent.height);
    return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width, extent.height * extent.depth, line);
}
cudaError_t cudaFree(void* pointer) {
    if (observer) timeline.synchronise();  // cudaFree waits for all work, as on GPUs
    return release(pointer, false, "cudaFree", __builtin_return_address(0));
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) {
    return release(pointer, false, "cudaFreeAsync", __builtin_return_address(0));
}
cudaError_t cudaFreeHost(void* pointer) {
    if (observer) timeline.synchronise();
    return release(pointer, true, "cudaFreeHost", __builtin_return_address(0));
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
    if (!is_mapped(pointer, bytes)) return set_error(cudaErrorInvalidValue);
    const DeviceLock device = lock_device();
    {
        std::lock_guard lock(mutex);
        if (overlaps_region(pointer, bytes)) return set_error(cudaErrorHostMemoryAlreadyRegistered);
        Region region{bytes, Side::pinned};
        if (!holds_host_buffer(pointer)) set_whole_pages(region, static_cast<char*>(pointer));
        regions()[number(pointer)] = std::move(region);
    }
    constexpr int not_a_leak = 0;  // a line: the sanitizer reports no leak of memory without a line
    if (observer) observer->memory_begins(pointer, bytes, pointer, bytes, {"cudaHostRegister", true, not_a_leak});
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
    const DeviceLock device = lock_device();
    std::unique_lock lock(mutex);
    const auto iterator = regions().find(number(pointer));
    if (iterator == regions().end() || iterator->second.side != Side::pinned || iterator->second.mapping)
        return set_error(cudaErrorHostMemoryNotRegistered);
    const size_t bytes = iterator->second.bytes;
    regions().erase(iterator);
    lock.unlock();
    if (observer) observer->memory_unmapped(pointer, bytes);
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
    return place_of(host, 1).side == Side::pinned ? store_result(device, host) : set_error(cudaErrorInvalidValue);
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
    return place_of(host, 1).side == Side::pinned ? store_result(flags, cudaHostAllocMapped)
                                                  : set_error(cudaErrorInvalidValue);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    if (!attributes) return set_error(cudaErrorInvalidValue);
    void* here = const_cast<void*>(pointer);
    switch (place_of(pointer, 1).side) {
        case Side::unknown:
            *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, here};
            break;
        case Side::pinned:
            *attributes = {cudaMemoryTypeHost, 0, here, here};
            break;
        case Side::device:
            *attributes = {cudaMemoryTypeDevice, 0, here, nullptr};
            break;
        case Side::managed:
            *attributes = {cudaMemoryTypeManaged, 0, here, here};
            break;
    }
    return cudaSuccess;
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int, cudaStream_t) {
    const Place place = place_of(pointer, bytes);
    return place.side == Side::managed && place.fits ? cudaSuccess : set_error(cudaErrorInvalidValue);
}
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise, int) {
    return cudaMemPrefetchAsync(pointer, bytes, 0, nullptr);
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
    if (!free_bytes || !total_bytes) return set_error(cudaErrorInvalidValue);
    *total_bytes = device_bytes;
    *free_bytes = device_bytes - static_cast<size_t>(std::max<int64_t>(allocated, 0));
    return cudaSuccess;
}
