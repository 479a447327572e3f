// The sanitizer. The student's file is compiled with GCC's hooks for a thread sanitizer: every memory access calls
// the functions at the end of this file. Shadow memory records, for each word, which threads wrote and read it last,
// and between which barriers. Blocks run one after the other, on one OS thread, so shadow memory needs no locks.

#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "grader/cpu/control.h"
#include "grader/cpu/include/warplab_cpu/atomics.h"
#include "grader/cpu/include/warplab_cpu/sync.h"
#include "grader/cpu/runtime/counters.h"
#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/findings.h"
#include "grader/cpu/runtime/history.h"
#include "grader/cpu/runtime/memory.h"
#include "grader/cpu/runtime/observer.h"
#include "grader/cpu/runtime/scheduler.h"
#include "grader/cpu/runtime/shadow.h"
#include "grader/cpu/runtime/timeline.h"
#include "grader/cpu/runtime/tracer.h"

namespace warplab_cpu {

Observer* observer = nullptr;

namespace {

using warplab::AccessCounts;
using warplab::FindingKind;
using warplab::FindingSide;
using warplab::FindingSpace;
using warplab::LaunchLimit;
using warplab::MemoryKind;
using warplab::RawFinding;
using warplab::trace::OperationKind;

constexpr std::size_t word_bytes = 4;

/// Return the address of the first accessed byte of a word, because one-byte flags in the same word are different
/// flags.
std::uintptr_t first_byte_of(std::uintptr_t word, unsigned bytes) {
    return word * word_bytes + static_cast<unsigned>(std::countr_zero(bytes));
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

struct Range {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
};

/// Memory that a kernel may use, with the zone around it.
struct Object {
    std::uintptr_t begin = 0, zone_begin = 0, zone_end = 0;
    std::size_t bytes = 0;
    FindingSpace space = FindingSpace::none;
    std::string name = {};
    std::uint32_t buffer = 0;
    std::uint32_t block = 0;  // shared: the block that declared it
    bool holds_data = false;  // all of it was written before the kernel
    bool freed = false;
    bool constant = false;
    std::size_t pitch = 0, width = 0;  // bytes per padded row; 0 without padding
    unsigned atomic_widths = 0;        // the widths used, 4 and 8, as bits
    unsigned first_atomic_width = 0;
    std::uint64_t declared_at = 0;     // shared: its place in the file
    std::size_t alignment = 1;         // shared: required by the declaration
    std::uint32_t read_in = 0;         // shared: the last grid that read it
    bool is_input = false;             // an input of the lab, which no call may write
    bool host_may_use = false;         // managed or pinned: the host may use it
    int line = 0;                      // where it was allocated, while it may be a leak
    bool has_kept_words = false;       // some of its words are in KeptWords
    Shadow histories = {};             // one history per word
    Bytes* bytes_of_inputs = nullptr;  // used instead of histories if no kernel may write
    std::size_t word_count = 0;

    bool is_shared() const { return space == FindingSpace::shared || space == FindingSpace::dynamic_shared; }
    MemoryKind memory_kind() const {
        return is_shared() ? MemoryKind::shared : constant ? MemoryKind::constant : MemoryKind::device;
    }
    void provide_words() {
        const std::size_t first = begin / word_bytes, last = (begin + bytes + word_bytes - 1) / word_bytes;
        word_count = std::max<std::size_t>(last - first, 1);
        if (is_input)
            bytes_of_inputs = static_cast<Bytes*>(map_shadow(word_count * sizeof(Bytes), true));
        else
            histories.provide(word_count);
    }
    bool has_words() const { return word_count != 0; }
    std::uintptr_t address_of_word(std::size_t index) const { return begin / word_bytes + index; }
    /// Return the largest part of the object around a ready word in which all words are ready.
    Range ready_around(std::size_t index) const {
        if (!histories) return {begin, bytes};
        const auto [first, last] = histories.ready_around(index);
        const std::uintptr_t from = std::max(begin, address_of_word(first) * word_bytes);
        return {from, std::min(begin + bytes, address_of_word(last) * word_bytes) - from};
    }
    const Bytes& bytes_of_word(std::size_t index) const {
        return histories ? histories[index].bytes : bytes_of_inputs[index];
    }
    void drop_words() {
        histories.release();
        if (bytes_of_inputs) munmap(bytes_of_inputs, word_count * sizeof(Bytes));
        bytes_of_inputs = nullptr;
        word_count = 0;
    }
};

struct AccessMode {
    bool writes = false, atomic = false;
    bool copies = false;  // part of a copy of a whole struct
    bool is_volatile = false;
    bool stores = false;  // an atomic that does not read
};
constexpr AccessMode plain_read, plain_write{.writes = true}, atomic_update{.writes = true, .atomic = true};

/// One access, as a hook reports it.
struct Touch : AccessMode {
    std::uint32_t place = 0;
    std::uintptr_t address = 0;
    unsigned width = 0;
    unsigned other_width = 0;  // the width of an atomic on the same word, if it differs

    bool reads() const { return !stores && (atomic || !writes); }
    AccessKind kind() const {
        return atomic ? AccessKind::atomic : writes ? AccessKind::plain_write : AccessKind::plain_read;
    }
};

/// The last access of a place in the code, in this grid: most places access only one object. The record has enough data
/// about the object to inspect most accesses quickly. Objects that need more data are not recorded here.
struct Recent {
    std::uint64_t key = 0;     // the place's key
    std::uintptr_t begin = 0;  // the part of the object whose histories are ready
    std::size_t bytes = 0;
    std::uintptr_t log_from = 0;  // the address that the log counts from: addresses in shared memory are offsets
    std::size_t first_word = 0;
    Object* object = nullptr;
    History* histories = nullptr;  // one per word of the object; null for an input of the lab
    AccessCounts* counts = nullptr;
    bool shared = false, holds_data = false;
    MemoryKind kind = MemoryKind::device;
};

/// Plain writes to one word by two threads. They are harmless if both write the same value, which is known only at the
/// next access.
struct Pending {
    bool active = false;
    RawFinding finding;
    std::uintptr_t address = 0;
    unsigned width = 0;
    unsigned char old[16] = {};
};

/// The destination or the source of a copy that continues while the block's threads run.
struct AsyncCopy {
    std::uintptr_t end, barrier;
    unsigned thread, batch, phase;
    std::uint32_t place;
};

/// The copies of one block that are not complete.
struct AsyncCopies {
    std::map<std::uintptr_t, AsyncCopy> copies;                        // by the destination's first address
    std::map<std::pair<std::uintptr_t, unsigned>, AsyncCopy> sources;  // by the source's first address and the thread
    std::size_t longest_source = 0;
    std::array<unsigned, 1024> batches{};  // the number of batches that each thread has committed

    bool any() const { return !copies.empty(); }
    void forget() {
        copies.clear();
        sources.clear();
        longest_source = 0;
    }
};

/// The words of device variables that have changed since the first call began, and that the current call has neither
/// read nor written yet.
struct KeptWords {
    static constexpr std::size_t max_bytes = 4096;  // the maximum size of a variable; counters and flags are small

    std::map<std::uintptr_t, std::vector<int>> first;  // the variables' contents when the first call began
    std::map<std::uintptr_t, int> words;               // by address: the value when the first call began
};

/// A grid that has run, or runs.
struct PastGrid {
    std::string kernel;
    int line;
    dim3 block;
};

/// The first thread that arrived at the block's current barrier.
struct FirstArrival {
    std::uint64_t barrier = ~0ull;  // block and generation
    Touch touch{};
    FindingSide side{};
    int line = 0;
};

class Sanitizer final : public Observer {
  public:
    void memory_begins(void* begin, std::size_t bytes, void* mapping, std::size_t mapping_bytes,
                       const AllocatedBy& by) override;
    void memory_has_rows(void* begin, std::size_t width, std::size_t pitch) override;
    void memory_ends(void* begin) override;
    void memory_renewed(void* begin, std::size_t bytes) override;
    bool memory_written(void* begin, std::size_t bytes) override;
    void memory_read(const void* begin, std::size_t bytes) override;
    bool is_exchanged(const void* to, const void* from, std::size_t bytes) override;
    void shared_begins(void* begin, const SharedDeclaration& variable) override;
    std::size_t bytes_left(const void* address) override;
    std::size_t vector_bytes_left(const void* address) override;
    void vector_changed(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t size_end);
    void grid_begins(const Grid& grid) override;
    void grid_ends() override;
    std::unique_ptr<HeldShadow> block_leaves() override;
    void block_returns(HeldShadow& held) override;
    void early_exit() override;
    void lanes_synchronised(unsigned lanes) override {
        if (grid_) histories_.order.sync_lanes(lanes);
    }
    void releases(const void* key) override {
        if (grid_) histories_.order.release(number(key));
    }
    void acquires(const void* key) override {
        if (grid_) histories_.order.acquire(number(key));
    }
    void block_reaches_grid_barrier() override {
        settle();
        if (grid_) histories_.order.reach_grid_barrier();
    }
    void defect_found(FindingKind kind, int line, const char* function, const std::string& reason) override;
    void freed_wrongly(const void* pointer, const char* function, const std::string& reason, void* caller) override;
    void launch_failed(int line, const char* kernel, LaunchLimit limit, const std::string& reason) override;
    void error_queried() override {
        const DeviceLock lock = lock_device();
        failed_launch_ = {};
    }
    void handle_begins(const void* handle, const CreatedBy& by) override {
        const DeviceLock lock = lock_device();
        handles_[handle] = by;
    }
    void handle_ends(const void* handle) override {
        const DeviceLock lock = lock_device();
        handles_.erase(handle);
    }
    void call_begins() override;
    void call_ends() override;
    void device_reset() override;
    void memory_unmapped(void* begin, std::size_t bytes) override;

    void begin_buffer(void* memory, std::size_t memory_bytes, void* begin, std::size_t bytes, bool holds_data,
                      bool is_constant, std::uint32_t buffer);
    void count_bytes(warplab::Observations& observed) const;
    void begin_dataset() {
        called_ = false;
        lines_of_kept_handles_.clear();
    }
    void name_part(void* memory, std::size_t bytes, const char* name);
    void begin_host_buffer(void* memory, std::size_t memory_bytes, void* begin, std::size_t bytes) {
        host_buffers_[number(memory)] = {number(memory) + memory_bytes, number(begin), bytes};
    }
    void end_host_buffer(void* memory) { host_buffers_.erase(number(memory)); }
    /// Inspect a kernel's access and return true if `Recent` is enough to detect all defects that the access can have.
    /// Otherwise, return false.
    template <unsigned width>
    bool access_on_fast_path(const Touch& touch);
    void access(const Touch& touch);
    void host_access(const Touch& touch);
    void check_copied_struct(const Touch& whole);
    void report_failed_launch();
    void reach_barrier(std::uint32_t place, int line);
    void arrive_at_grid_barrier() {
        if (grid_) histories_.order.arrive_at_grid_barrier();
    }
    void execute_fence(bool of_device) {
        ++fences_;
        if (grid_) histories_.order.fence(of_device);
    }
    std::uint64_t fences() const { return fences_; }
    void note_block_scope(const Touch& touch);
    void look_for_other_width(Object& object, std::size_t first, Touch touch);
    void find_kept_words(Object& object);
    void look_for_kept_words(Object& object, const Touch& touch);
    void forget_kept_words(Object& object, std::uintptr_t begin, std::size_t bytes);
    void note_async_copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, std::uintptr_t barrier,
                         unsigned phase, std::uint32_t place);
    void note_async_commit() {
        if (grid_) ++async_.batches[linear_thread()];
    }
    /// Report an asynchronous copy whose address is not a multiple of the alignment that it promises.
    void report_misaligned_copy(const Touch& touch);
    void note_async_wait(unsigned prior);
    void note_async_phases(std::uintptr_t barrier, unsigned phase);
    void report_index_beyond(std::int64_t index, const char* array, std::uint32_t column, std::uint32_t place);

  private:
    using Objects = std::map<std::uintptr_t, Object>;  // by the beginning of the zone; zones do not overlap

    /// The objects that were found most recently: most kernels use only a few.
    struct LastFound {
        std::array<Object*, 4> objects{};
        unsigned next = 0;
    };

    Object* find(Objects& objects, LastFound& last, std::uintptr_t address) {
        for (Object* object : last.objects)
            if (object && address - object->zone_begin < object->zone_end - object->zone_begin) return object;
        return find_in_tree(objects, last, address);
    }
    Object* find_in_tree(Objects& objects, LastFound& last, std::uintptr_t address);
    Object* find_any(std::uintptr_t address) {
        const bool shared = is_shared(reinterpret_cast<void*>(address));
        return shared ? find(shared_, last_shared_, address) : find(device_, last_device_, address);
    }
    Recent& recent_at(std::uint32_t place) { return recent_[place % recent_.size()]; }
    std::uint64_t key_of(std::uint32_t place) const { return std::uint64_t{objects_version_} << 32 | place; }
    AccessCounts& remember(Object& object, std::size_t index, const LoggedAccess& access);
    /// Forget the recently found objects, because objects were added or removed.
    void objects_changed() {
        last_device_ = last_shared_ = {};
        ++objects_version_;
    }
    void forget(std::uintptr_t begin, std::size_t bytes);
    void add_variables();
    enum class PageKind { read_only, host, inaccessible };
    PageKind page_kind_at(std::uintptr_t address);
    const Object* nearest(std::uintptr_t address) const;
    bool is_argument(const Object& object) const;
    bool is_passed_twice(const Object& object) const;
    void note_passed_outside(RawFinding& finding, const Object& object, const Touch& touch);
    void note_writer(RawFinding& finding, const Object& object, const Touch& touch) const;
    const Object* beyond_shared(std::uintptr_t address);
    bool has_host_argument_near(std::uintptr_t address);
    const Object* choose_argument(const Object* object, const Touch& touch) const;
    const Object* intended_object(const Object* object, const Touch& touch);
    const Object* nearest_shared(std::uintptr_t address) const;
    unsigned written_of(const Object& object, std::size_t word) const;
    void look_for_unwritten(const Object& object, std::size_t first, unsigned bytes, const Touch& touch);
    static bool is_written(const Recent& recent, const History& history, unsigned bytes, const Touch& touch);
    void check_word_quickly(const Recent& recent, std::size_t index, unsigned bytes, const Touch& touch);
    void check_word(Object& object, std::size_t word, std::uint8_t bytes, const Touch& touch);
    void look_for_race(Object& object, std::size_t index, Mark mark, const Touch& touch);
    /// The earlier work, if any, that may still use the same bytes, and its last access to them.
    using Earlier = std::pair<const Work*, const Mark*>;
    template <class Find>
    static Earlier find_unfinished(const History& history, unsigned bytes, bool writes, bool atomic, Find work_of);
    void record_unfinished(RawFinding finding, const Earlier& earlier);
    void look_for_unfinished(const Object& object, const History& history, const Mark& mark, const Touch& touch);
    void look_for_unfinished_copies(const Object& object, std::uintptr_t begin, std::size_t bytes, bool writes);
    void look_for_unfinished_host(const Object& object, const Touch& touch);
    template <class Predicate>
    void finish_async(Predicate is_over);
    const AsyncCopy* copy_to(const Touch& touch) const;
    const AsyncCopy* copy_from(const Touch& touch) const;
    void look_for_unfinished_async(const Object& object, const Touch& touch);
    void report_race(const Object& object, const Mark& earlier, bool earlier_writes, const Mark& now,
                     const Touch& touch);
    void settle();
    void report_reads_beside_atomics();
    void note_shared_access(Object& object, const Touch& touch);
    void report_misaligned_shared();
    void report_leaks();
    void report_not_destroyed();
    RawFinding describe(FindingKind kind, const Object* object, const Touch& touch) const;
    void record(FindingKind kind, const Object* object, const Touch& touch) {
        RawFinding finding = describe(kind, object, touch);
        if (kind == FindingKind::out_of_bounds && object && grid_) note_passed_outside(finding, *object, touch);
        record_finding(finding);
    }

    /// A buffer of the judge, for a function that runs on the host.
    struct HostBuffer {
        std::uintptr_t memory_end, begin;
        std::size_t bytes;
    };
    const HostBuffer* host_buffer_at(std::uintptr_t address) const;

    /// The memory of a std::vector with a capacity beyond its size, which ends at size_end.
    struct VectorMemory {
        std::uintptr_t begin, size_end, end;
    };
    std::optional<VectorMemory> vector_at(std::uintptr_t address);
    void look_beyond_vector(const Touch& touch);

    AsyncCopies async_;  // the copies of the block async_block_
    std::uint32_t async_block_ = 0;
    Objects device_, shared_;
    std::map<std::uintptr_t, HostBuffer> host_buffers_;  // by the beginning of their memory
    std::map<std::uintptr_t, VectorMemory> vectors_;     // by the beginning of their memory
    std::mutex vectors_mutex_;                           // host threads use vectors while kernels run
    std::atomic<bool> has_vectors_ = false;
    LastFound last_device_, last_shared_;
    std::uint32_t objects_version_ = 1;
    std::array<Recent, 256> recent_;
    std::map<std::uintptr_t, PageKind> pages_;  // pages outside device memory
    std::uint64_t fences_ = 0;                  // the number of fences that kernels executed
    const Grid* grid_ = nullptr;
    Histories histories_;
    std::size_t variables_known_ = 0;
    bool called_ = false;
    std::map<const void*, CreatedBy> handles_;  // streams and events of this call that it has not destroyed
    std::set<int> lines_of_kept_handles_;  // lines of handles that earlier calls for this dataset have not destroyed
    RawFinding failed_launch_{};           // its kind is 0 if no launch failed, or if the program has read the error
    Pending pending_;
    // By place in the code, until the grid ends: reads of words of shared memory that other threads of the block update
    // by atomics. The guards are the places whose threads then update the word: if (bin < 255) atomicAdd(&bin, 1).
    std::map<std::uint32_t, std::pair<RawFinding, std::uint64_t>> reads_beside_atomics_;
    std::set<std::uint32_t> guards_;
    // Accesses of this grid that are wider than the alignment of a static shared variable, by the beginning of the
    // variable and the place of the access.
    std::map<std::pair<std::uintptr_t, std::uint32_t>, RawFinding> wide_accesses_;
    // The last write of each word in this grid by an atomic that is atomic only within its block.
    std::map<std::uintptr_t, Mark> writes_for_one_block_;
    // The last atomic on each word in this grid, with its width, for memory with atomics of two widths.
    std::map<std::uintptr_t, std::pair<Mark, unsigned>> atomics_by_width_;
    FirstArrival first_arrival_;                // the running block's
    std::map<std::uint32_t, PastGrid> grids_;   // the grids of this call, by their first block's number
    std::set<std::uint32_t> unwritten_places_;  // places whose reads of unwritten memory are described
    KeptWords kept_words_;
};

/// Addresses of threadIdx and the other built-in variables of the running kernel's file. They are not always adjacent.
class BuiltIns {
  public:
    bool has(std::uintptr_t address) const {
        if (address - begin_ >= bytes_) return false;
        for (std::size_t i = 0; i < count_; ++i)
            if (address - ranges_[i].begin < ranges_[i].bytes) return true;
        return false;
    }
    void clear() { *this = {}; }
    void add(std::uintptr_t begin, std::uintptr_t bytes) {
        if (has(begin + bytes - 1)) return;
        Range* last = count_ ? &ranges_[count_ - 1] : nullptr;
        const bool continues = last && begin == last->begin + last->bytes;
        if (!continues && count_ == ranges_.size()) return;
        if (continues)
            last->bytes += bytes;
        else
            ranges_[count_++] = {begin, bytes};
        const std::uintptr_t end = std::max(begin_ + bytes_, begin + bytes);
        begin_ = bytes_ ? std::min(begin_, begin) : begin;
        bytes_ = end - begin_;
    }

  private:
    std::array<Range, 8> ranges_;  // a variable may be written in two parts
    std::size_t count_ = 0;
    std::uintptr_t begin_ = 0, bytes_ = 0;  // the span of all ranges, including the gaps between them
};

/// The data that a hook checks first, because most accesses are to local variables, threadIdx and similar variables.
struct Quick {
    bool in_grid = false;
    const void* kernel_thread = nullptr;  // the block_state of the grid's OS thread; null outside grids
    std::uintptr_t stack = 0, shared_begin = ~std::uintptr_t{0}, shared_end = 0, executable = 0;
    std::size_t stack_bytes = 0;  // the part that kernels use
    std::uintptr_t stack_end = 0;
    bool learns_built_ins = false;
    BuiltIns built_ins;
};
Quick quick;

Sanitizer* the_sanitizer = nullptr;  // null while the sanitizer is off
bool mode_is_known = false;
Sanitizer& sanitizer() { return *the_sanitizer; }

void fill_place(std::uint32_t (&to)[3], const uint3& from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
}

FindingSide describe_access_side(const Touch& touch) {
    FindingSide side{};
    uint3 block{}, thread{};
    running_thread(block, thread);
    fill_place(side.block, block);
    fill_place(side.thread, thread);
    side.program_counter = touch.place;
    side.writes = touch.writes;
    side.atomic = touch.atomic;
    return side;
}

uint3 unfold(std::uint64_t linear, const dim3& shape) {
    return {static_cast<unsigned>(linear % shape.x), static_cast<unsigned>(linear / shape.x % shape.y),
            static_cast<unsigned>(linear / shape.x / shape.y)};
}

void copy_name(char* to, std::size_t capacity, const char* from) {
    std::strncpy(to, from, capacity - 1);
    to[capacity - 1] = 0;
}

struct Stack {
    std::uintptr_t begin, end;
};

/// Return the stack of the running OS thread.
Stack find_stack() {
    pthread_attr_t attributes;
    void* begin = nullptr;
    std::size_t bytes = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    return {number(begin), number(begin) + bytes};
}

/// Find the part of the OS thread's stack that a kernel uses: the part below the launch.
void find_kernels_stack(std::uintptr_t launch_frame) {
    static thread_local const Stack stack = find_stack();
    quick.stack = stack.begin;
    quick.stack_end = stack.end;
    quick.stack_bytes = launch_frame - quick.stack;
}

Object* Sanitizer::find_in_tree(Objects& objects, LastFound& last, std::uintptr_t address) {
    auto after = objects.upper_bound(address);
    if (after == objects.begin()) return nullptr;
    --after;
    if (address >= after->second.zone_end) return nullptr;
    return last.objects[last.next++ % last.objects.size()] = &after->second;
}

/// Forget the objects that begin in this range, because they no longer exist or are replaced.
void Sanitizer::forget(std::uintptr_t begin, std::size_t bytes) {
    for (auto at = device_.lower_bound(begin); at != device_.end() && at->first < begin + bytes;) {
        at->second.drop_words();
        at = device_.erase(at);
    }
    objects_changed();
}

void Sanitizer::memory_begins(void* begin, std::size_t bytes, void* mapping, std::size_t mapping_bytes,
                              const AllocatedBy& by) {
    const std::uintptr_t zone = number(mapping);
    forget(zone, mapping_bytes);  // freed memory at the same place
    Object object{number(begin), zone, zone + mapping_bytes, bytes, FindingSpace::allocation, by.call};
    object.holds_data = object.host_may_use = by.host_writes;  // the hooks do not see the host's writes
    object.line = by.line;
    object.provide_words();
    device_[zone] = object;
}

void Sanitizer::memory_has_rows(void* begin, std::size_t width, std::size_t pitch) {
    if (Object* object = find(device_, last_device_, number(begin))) {
        object->width = width;
        object->pitch = pitch;
    }
}

void Sanitizer::memory_ends(void* begin) {
    if (Object* object = find(device_, last_device_, number(begin))) {
        object->freed = true;
        object->drop_words();
    }
    objects_changed();
}

void Sanitizer::memory_renewed(void* begin, std::size_t bytes) {
    settle();
    Object* const object = find(device_, last_device_, number(begin));
    if (!object || !object->histories) return;
    const std::size_t first = number(begin) / word_bytes - object->begin / word_bytes;
    object->histories.change(first, first + bytes / word_bytes, [](History& word) { word = {}; });
}

void Sanitizer::memory_unmapped(void* begin, std::size_t bytes) { forget(number(begin), bytes); }

/// Set the bits of these bytes in one of the masks of each word.
void mark_bytes(Object& object, std::uintptr_t begin, std::size_t bytes, std::uint8_t Bytes::*mask) {
    const std::uintptr_t from = std::max(begin, object.begin);
    const std::uintptr_t to = std::min(begin + bytes, object.begin + object.bytes);
    if (from >= to) return;
    const std::size_t before = object.begin / word_bytes;
    const auto mark = [&](std::size_t first, std::size_t last, std::uint8_t bits) {
        if (object.histories)
            object.histories.change(first, last, [=](History& word) { word.bytes.*mask |= bits; });
        else
            std::for_each(object.bytes_of_inputs + first, object.bytes_of_inputs + last,
                          [=](Bytes& word) { word.*mask |= bits; });
    };
    const std::size_t first = (from + word_bytes - 1) / word_bytes - before, last = to / word_bytes - before;
    const unsigned from_first = 0xfu << from % word_bytes & 0xfu, to_last = (1u << to % word_bytes) - 1;
    if (first > last) return mark(last, first, static_cast<std::uint8_t>(from_first & to_last));
    if (from % word_bytes) mark(first - 1, first, static_cast<std::uint8_t>(from_first));
    mark(first, last, 0xf);
    if (to_last) mark(last, last + 1, static_cast<std::uint8_t>(to_last));
}

/// Record an access by the running work, which is a copy or a fill.
void mark_copied(Object& object, std::uintptr_t begin, std::size_t bytes, AccessKind kind) {
    if (!object.histories) return;
    Mark mark;
    mark.block = block_state.epoch;
    mark.bytes = 0xf;
    const std::size_t first = begin / word_bytes - object.begin / word_bytes;
    object.histories.change(first, std::min(first + (bytes + 3) / word_bytes, object.word_count),
                            [=](History& word) { word.latest[static_cast<unsigned>(kind)] = mark; });
}

bool Sanitizer::memory_written(void* begin, std::size_t bytes) {
    add_variables();
    Object* object = find(device_, last_device_, number(begin));
    if (!object || !object->has_words()) return true;
    forget_kept_words(*object, number(begin), bytes);
    if (number(begin) == object->begin && bytes == object->bytes) object->holds_data = true;
    look_for_unfinished_copies(*object, number(begin), bytes, true);
    mark_bytes(*object, number(begin), bytes, &Bytes::written);
    mark_copied(*object, number(begin), bytes, AccessKind::plain_write);
    return !object->is_input;
}

void Sanitizer::memory_read(const void* begin, std::size_t bytes) {
    add_variables();
    Object* object = find(device_, last_device_, number(begin));
    if (!object || !object->has_words()) return;
    look_for_unfinished_copies(*object, number(begin), bytes, false);
    mark_bytes(*object, number(begin), bytes, &Bytes::read);
    mark_copied(*object, number(begin), bytes, AccessKind::plain_read);
}

bool Sanitizer::is_exchanged(const void* to, const void* from, std::size_t bytes) {
    const auto has_data = [&](const Object& object, std::uintptr_t begin) {
        const std::size_t first = begin / word_bytes - object.begin / word_bytes;
        const std::size_t end = std::min(first + (bytes + word_bytes - 1) / word_bytes, object.word_count);
        for (std::size_t word = first; word < end; ++word)
            if (written_of(object, word)) return true;
        return false;
    };
    const Object *const target = find(device_, last_device_, number(to)), *const source =
                                                                              find(device_, last_device_, number(from));
    if (!target || !source || !target->histories || !source->histories || source->holds_data) return false;
    return has_data(*target, number(to)) && !has_data(*source, number(from));
}

void Sanitizer::count_bytes(warplab::Observations& observed) const {
    for (const auto& [zone, object] : device_) {
        if (object.space != FindingSpace::buffer || object.buffer >= warplab::max_buffers) continue;
        for (std::size_t i = 0; i < object.word_count; ++i) {
            observed.read_bytes[object.buffer] += static_cast<unsigned>(std::popcount(object.bytes_of_word(i).read));
            observed.written_bytes[object.buffer] +=
                static_cast<unsigned>(std::popcount(object.bytes_of_word(i).written));
        }
    }
}

void Sanitizer::begin_buffer(void* memory, std::size_t memory_bytes, void* begin, std::size_t bytes, bool holds_data,
                             bool is_constant, std::uint32_t buffer) {
    forget(number(memory), memory_bytes);
    Object& object = device_[number(memory)];
    object = {number(begin), number(memory), number(memory) + memory_bytes, bytes, FindingSpace::buffer};
    object.holds_data = holds_data;
    object.is_input = is_constant;
    object.buffer = buffer;
    object.provide_words();
}

/// Split a named part off a buffer. The part is a separate object, up to the beginning of the next part.
void Sanitizer::name_part(void* memory, std::size_t bytes, const char* name) {
    const std::uintptr_t begin = number(memory);
    Object* const whole = find(device_, last_device_, begin);
    if (!whole || whole->space != FindingSpace::buffer) return;
    Object part = *whole;
    part.name = name;
    if (begin == whole->begin) {
        if (bytes == whole->bytes) return void(whole->name = name);
        whole->drop_words();
    } else {
        whole->bytes = std::min(whole->bytes, begin - whole->begin);
        const std::size_t gap = begin - (whole->begin + whole->bytes);
        part.zone_begin = whole->zone_end = begin - gap / 2;  // an access in the gap is attributed to the nearer object
    }
    part.begin = begin;
    part.bytes = bytes;
    part.provide_words();
    device_[part.zone_begin] = part;
    objects_changed();
}

std::size_t Sanitizer::bytes_left(const void* address) {
    const std::uintptr_t at = number(address);
    const auto left_of = [at](std::uintptr_t begin, std::size_t bytes) {
        return at < begin ? SIZE_MAX : begin + bytes - std::min(at, begin + bytes);
    };
    const Object* const object = find(device_, last_device_, at);
    if (object && object->space == FindingSpace::buffer) return left_of(object->begin, object->bytes);
    const HostBuffer* const host = host_buffer_at(at);
    return host ? left_of(host->begin, host->bytes) : SIZE_MAX;
}

void Sanitizer::vector_changed(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t size_end) {
    const std::lock_guard lock(vectors_mutex_);
    if (size_end == end)
        vectors_.erase(begin);
    else
        vectors_[begin] = {begin, size_end, end};
    has_vectors_ = !vectors_.empty();
}

std::optional<Sanitizer::VectorMemory> Sanitizer::vector_at(std::uintptr_t address) {
    if (!has_vectors_) return {};
    const std::lock_guard lock(vectors_mutex_);
    const auto after = vectors_.upper_bound(address);
    if (after == vectors_.begin() || address >= std::prev(after)->second.end) return {};
    return std::prev(after)->second;
}

std::size_t Sanitizer::vector_bytes_left(const void* address) {
    const auto vector = vector_at(number(address));
    return vector ? vector->size_end - std::min(number(address), vector->size_end) : SIZE_MAX;
}

/// Report an access of host code between a vector's size and its capacity.
void Sanitizer::look_beyond_vector(const Touch& touch) {
    const auto vector = vector_at(touch.address);
    if (!vector || touch.address + touch.width <= vector->size_end) return;
    RawFinding finding = describe(FindingKind::beyond_vector, nullptr, touch);
    finding.offset = static_cast<std::int64_t>(touch.address - vector->begin);
    finding.bytes = vector->size_end - vector->begin;
    record_finding(finding);
}

const Sanitizer::HostBuffer* Sanitizer::host_buffer_at(std::uintptr_t address) const {
    const auto after = host_buffers_.upper_bound(address);
    if (after == host_buffers_.begin()) return nullptr;
    const HostBuffer& host = std::prev(after)->second;
    return address < host.memory_end ? &host : nullptr;
}

void Sanitizer::shared_begins(void* begin, const SharedDeclaration& variable) {
    const std::uintptr_t zone = number(begin) - shared_zone;
    const std::size_t bytes = variable.bytes;
    Object& object = shared_[zone];
    if (object.bytes != bytes) {
        object.drop_words();
        object = {number(begin), zone, number(begin) + bytes + shared_zone, bytes, FindingSpace::shared, variable.name};
        object.alignment = variable.alignment;
        object.declared_at = static_cast<std::uint64_t>(variable.line) << 32 | shared_.size();
        object.provide_words();
        objects_changed();
    }
    object.block = block_state.epoch;
    quick.shared_begin = std::min(quick.shared_begin, object.zone_begin);
    quick.shared_end = std::max(quick.shared_end, object.zone_end);
}

void Sanitizer::note_shared_access(Object& object, const Touch& touch) {
    if (touch.reads()) object.read_in = histories_.order.first_block();
    if (touch.copies || touch.width <= object.alignment) return;  // a GPU may copy byte by byte
    const std::pair key{object.begin, touch.place};
    if (!wide_accesses_.count(key)) wide_accesses_[key] = describe(FindingKind::misaligned, &object, touch);
}

/// Static shared variables are aligned to 128 bytes here. nvcc packs the variables that kernels read, in their order in
/// the file, with the alignment that their types or attributes require. Report accesses that this layout would
/// misalign.
void Sanitizer::report_misaligned_shared() {
    constexpr std::uint32_t max_certain = 8;  // a hook of 16 bytes may be for a struct of two doubles
    std::vector<const Object*> variables;
    for (const auto& [zone, object] : shared_)
        if (object.space == FindingSpace::shared && object.read_in == histories_.order.first_block())
            variables.push_back(&object);
    std::ranges::sort(variables, [](const Object* a, const Object* b) { return a->declared_at < b->declared_at; });
    std::size_t end = 0;
    for (const Object* variable : variables) {
        const std::size_t begin = (end + variable->alignment - 1) / variable->alignment * variable->alignment;
        end = begin + variable->bytes;
        for (const auto& [place, finding] : wide_accesses_)
            if (place.first == variable->begin && begin % std::min(finding.width, max_certain)) record_finding(finding);
    }
    wide_accesses_.clear();
}

bool all_zero(const char* begin, std::size_t bytes) {
    return std::all_of(begin, begin + bytes, [](char byte) { return byte == 0; });
}

void Sanitizer::add_variables() {
    if (variables_known_ == device_variable_count()) return;
    variables_known_ = device_variable_count();
    const auto variables = device_variables();
    for (auto at = variables.begin(); at != variables.end(); ++at) {
        const auto& [begin, variable] = *at;
        const auto next = std::next(at);
        std::uintptr_t zone_end = begin + variable.bytes + shared_zone;
        if (next != variables.end()) zone_end = std::min(zone_end, next->first);
        Object object{begin, begin, zone_end, variable.bytes, FindingSpace::variable, variable.name};
        object.constant = variable.constant;
        object.host_may_use = variable.managed;
        object.holds_data = !variable.constant || !all_zero(reinterpret_cast<const char*>(begin), variable.bytes);
        object.provide_words();
        device_[begin].drop_words();
        device_[begin] = object;
    }
    objects_changed();
}

void Sanitizer::grid_begins(const Grid& grid) {
    add_variables();
    grid_ = &grid;
    ++objects_version_;  // recent_ refers to counts of earlier grids
    begin_counting(grid);
    quick.in_grid = true;
    quick.kernel_thread = &block_state;
    find_kernels_stack(number(&grid + 1));  // includes the grid, which the kernel's code reads
    histories_.begin_grid();
    grids_[histories_.order.first_block()] = {grid.kernel, grid.line, grid.threads};
    writes_for_one_block_.clear();
    atomics_by_width_.clear();
    const std::uintptr_t dynamic = number(&dynamic_shared_memory);
    Object& object = shared_[dynamic];
    if (object.bytes != grid.shared_bytes || !object.has_words()) {
        object.drop_words();
        object = {dynamic, dynamic, dynamic + sizeof(DynamicShared), grid.shared_bytes, FindingSpace::dynamic_shared};
        object.provide_words();
        objects_changed();
    }
    quick.shared_begin = std::min(quick.shared_begin, object.zone_begin);
    quick.shared_end = std::max(quick.shared_end, object.zone_end);
}

void Sanitizer::grid_ends() {
    settle();
    std::size_t static_shared_bytes = 0;
    for (const auto& [zone, object] : shared_)
        if (object.space == FindingSpace::shared && object.block >= histories_.order.first_block())
            static_shared_bytes += object.bytes;
    end_counting(*grid_, static_shared_bytes);
    report_misaligned_shared();
    report_reads_beside_atomics();
    grid_ = nullptr;
    quick.in_grid = false;
    quick.kernel_thread = nullptr;
}

/// All records that concern only one block.
struct BlockShadow final : HeldShadow {
    explicit BlockShadow(HappensBefore::Held order_) : order(std::move(order_)) {}
    struct Word {
        std::uintptr_t zone;
        std::size_t index;
        History history;
    };
    HappensBefore::Held order;
    AsyncCopies async;
    FirstArrival first_arrival;
    std::vector<Word> words;
};

std::unique_ptr<HeldShadow> Sanitizer::block_leaves() {
    settle();
    auto held = std::make_unique<BlockShadow>(histories_.order.hold_block());
    if (async_block_ == block_state.epoch) std::swap(held->async, async_);
    held->first_arrival = first_arrival_;
    for (const auto& [zone, object] : shared_)
        for (std::size_t i = 0; i < object.word_count; ++i)
            if (const History& word = object.histories[i]; word.block == block_state.epoch)
                held->words.push_back({zone, i, word});
    return held;
}

void Sanitizer::block_returns(HeldShadow& held) {
    auto& shadow = static_cast<BlockShadow&>(held);
    histories_.order.return_block(shadow.order);
    async_ = std::move(shadow.async);
    async_block_ = block_state.epoch;
    first_arrival_ = shadow.first_arrival;
    for (auto& [zone, index, history] : shadow.words) {
        history.more = 0;  // other blocks have reused the entry
        history.crowded = false;
        shared_[zone].histories.words()[index] = history;
    }
}

/// Return whether an address belongs to the constants in the program's file: to a part that is never writable, or that
/// is writable only while the loader relocates it. Other read-only memory belongs to the host: shared libraries, and
/// memory that the host has made read-only.
bool may_be_constant(std::uintptr_t address) {
    struct Search {
        std::uintptr_t address;
        bool found;
    } search{address, false};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& search = *static_cast<Search*>(data);
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& part = info->dlpi_phdr[i];
                const bool constant = part.p_type == PT_LOAD ? !(part.p_flags & PF_W) : part.p_type == PT_GNU_RELRO;
                if (constant && search.address - (info->dlpi_addr + part.p_vaddr) < part.p_memsz) search.found = true;
            }
            return 1;  // the first object is the executable
        },
        &search);
    return search.found;
}

/// Return the kind of the page of an address that is not in shared memory, in device memory or on a stack. Kernels may
/// read the program's constants.
Sanitizer::PageKind Sanitizer::page_kind_at(std::uintptr_t address) {
    constexpr std::uintptr_t page_bytes = 4096;
    const auto [known, is_new] = pages_.try_emplace(address / page_bytes, PageKind::inaccessible);
    if (!is_new) return known->second;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t begin = 0, end = 0;
        char dash, access[5] = {};
        std::istringstream words(line);
        words >> std::hex >> begin >> dash >> end >> std::ws;
        words.read(access, 4);
        if (address < begin || address >= end) continue;
        const bool constant = access[1] != 'w' && may_be_constant(address);
        if (access[0] == 'r') known->second = constant ? PageKind::read_only : PageKind::host;
        break;
    }
    return known->second;
}

bool is_near(std::uintptr_t address, const Object& object) {
    constexpr std::size_t always_near = std::size_t{64} << 20;
    const std::size_t distance = address < object.begin ? object.begin - address : address - object.begin;
    return distance <= std::max(always_near, 8 * object.bytes);
}

/// Return the object for which an address outside all objects was most likely meant: the last object that begins before
/// the address, if that beginning is near.
const Object* Sanitizer::nearest(std::uintptr_t address) const {
    if (is_never_set(reinterpret_cast<void*>(address))) return nullptr;
    auto after = device_.upper_bound(address);
    if (after == device_.begin()) return nullptr;
    const Object& object = std::prev(after)->second;
    return is_near(address, object) ? &object : nullptr;
}

/// Return whether a 32-bit index into the object, for example a value that is not a valid bin number, can reach the
/// address.
bool can_be_indexed(std::uintptr_t address, const Object& object) {
    constexpr std::uintptr_t max_distance = std::uintptr_t{1} << 35;  // 2^32 elements of 8 bytes
    return address - object.begin + max_distance < 2 * max_distance;
}

/// Return whether one of the kernel's parameters, or a member of one, points into the object or to its end.
bool Sanitizer::is_argument(const Object& object) const {
    const auto* const bytes = static_cast<const char*>(grid_->closure);
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= grid_->closure_bytes; at += sizeof(std::uintptr_t)) {
        std::uintptr_t word;
        std::memcpy(&word, bytes + at, sizeof word);
        if (word >= object.begin && word <= object.begin + object.bytes) return true;
    }
    return false;
}

/// Return whether two of the kernel's parameters, or members of them, are the same pointer into the object.
bool Sanitizer::is_passed_twice(const Object& object) const {
    std::set<std::uintptr_t> passed;
    const auto* const bytes = static_cast<const char*>(grid_->closure);
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= grid_->closure_bytes; at += sizeof(std::uintptr_t)) {
        std::uintptr_t word;
        std::memcpy(&word, bytes + at, sizeof word);
        if (word - object.begin < object.bytes && !passed.insert(word).second) return true;
    }
    return false;
}

/// For an address between `object` and another object, return the other object if only that one is an argument of the
/// kernel (and, for a write, not an input of the lab). Otherwise, return `object`.
const Object* Sanitizer::choose_argument(const Object* object, const Touch& touch) const {
    const auto fits = [&](const Object& object) { return is_argument(object) && !(touch.writes && object.is_input); };
    if (!grid_ || object->space == FindingSpace::variable || fits(*object)) return object;
    const auto at = device_.find(object->zone_begin);
    if (at == device_.end()) return object;
    const bool before = touch.address < object->begin;
    if (before ? at == device_.begin() : std::next(at) == device_.end()) return object;
    const Object& other = before ? std::prev(at)->second : std::next(at)->second;
    return fits(other) && is_near(touch.address, other) ? &other : object;
}

/// Return the object for which an address between two objects was most likely meant. `object` is the nearer one. If the
/// same place in the code accessed the object on the other side earlier in this grid, the address was meant for that
/// object.
const Object* Sanitizer::intended_object(const Object* object, const Touch& touch) {
    const Recent& recent = recent_at(touch.place);
    const bool is_known = recent.key == key_of(touch.place) && recent.object;
    if (!object) return is_known && can_be_indexed(touch.address, *recent.object) ? recent.object : nullptr;
    if (!is_known || recent.shared) return choose_argument(object, touch);
    const bool before = touch.address < object->begin, after = touch.address >= object->begin + object->bytes;
    const bool beyond = recent.object->begin < touch.address;
    const bool other_side = (before && beyond) || (after && !beyond);
    return other_side && is_near(touch.address, *recent.object) ? recent.object : object;
}

RawFinding Sanitizer::describe(FindingKind kind, const Object* object, const Touch& touch) const {
    RawFinding finding{};
    finding.kind = static_cast<std::uint32_t>(kind);
    finding.now = describe_access_side(touch);
    finding.width = touch.width;
    finding.threads = block_state.threads;
    if (grid_) {
        copy_name(finding.kernel, sizeof finding.kernel, grid_->kernel);
        finding.launch_line = grid_->line;
        fill_place(finding.launch_grid, {grid_->blocks.x, grid_->blocks.y, grid_->blocks.z});
        fill_place(finding.launch_block, {grid_->threads.x, grid_->threads.y, grid_->threads.z});
    }
    finding.offset = static_cast<std::int64_t>(touch.address);
    if (!object) return finding;
    finding.space = static_cast<std::uint32_t>(object->space);
    finding.offset = static_cast<std::int64_t>(touch.address - object->begin);
    finding.bytes = object->bytes;
    finding.buffer = object->buffer;
    const bool concerns_extent = kind == FindingKind::out_of_bounds || kind == FindingKind::uninitialised;
    if (concerns_extent && object->space == FindingSpace::allocation) finding.other_line = object->line;
    copy_name(finding.object, sizeof finding.object, object->name.c_str());
    return finding;
}

/// For an access beyond an object, record a parameter of the kernel that itself points between the object's end and the
/// access, into no other object.
void Sanitizer::note_passed_outside(RawFinding& finding, const Object& object, const Touch& touch) {
    if (object.is_shared()) return;
    const std::uintptr_t end = object.begin + object.bytes;
    const auto* const bytes = static_cast<const char*>(grid_->closure);
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= grid_->closure_bytes; at += sizeof(std::uintptr_t)) {
        std::uintptr_t word;
        std::memcpy(&word, bytes + at, sizeof word);
        if (word <= end || word > touch.address) continue;
        const Object* const other = find(device_, last_device_, word);
        if (other && word - other->begin <= other->bytes) continue;
        finding.passed_outside = 1;
        finding.passed_offset = static_cast<std::int64_t>(word - object.begin);
    }
}

/// Describe which elements of the object earlier kernels have written: the last kernel that wrote some of them, and, if
/// the first two groups of written elements have the same length, that length and their distance. An element is as wide
/// as the access.
void Sanitizer::note_writer(RawFinding& finding, const Object& object, const Touch& touch) const {
    constexpr std::size_t max_elements = 4096;
    if (object.is_shared() || !object.histories || touch.width < word_bytes || object.begin % word_bytes) return;
    const std::size_t words = touch.width / word_bytes, count = std::min(max_elements, object.bytes / touch.width);
    const auto is_written = [&](std::size_t element) { return written_of(object, element * words) == 0xf; };
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Mark& mark = object.histories[i * words].latest[static_cast<unsigned>(AccessKind::plain_write)];
        if (is_written(i) && mark.place && mark.block < histories_.order.first_block())
            last = std::max(last, mark.block);
    }
    const auto after = grids_.upper_bound(last);
    if (!last || after == grids_.begin()) return;
    const PastGrid& writer = std::prev(after)->second;
    copy_name(finding.detail, sizeof finding.detail, writer.kernel.c_str());
    finding.writer_line = writer.line;
    fill_place(finding.writer_block, {writer.block.x, writer.block.y, writer.block.z});
    std::size_t written = 0;
    while (written < count && is_written(written)) ++written;
    std::size_t period = written;
    while (period < count && !is_written(period)) ++period;
    if (written < 2 || period + written > count) return;
    for (std::size_t i = period; i < period + written; ++i)
        if (!is_written(i)) return;
    finding.written = static_cast<std::uint32_t>(written);
    finding.written_distance = static_cast<std::uint32_t>(period);
}

void Sanitizer::report_race(const Object& object, const Mark& earlier, bool earlier_writes, const Mark& now,
                            const Touch& touch) {
    FindingKind kind = FindingKind::race;
    if (earlier.atomic || touch.atomic) {
        const bool plain_writes = earlier.atomic ? touch.writes : earlier_writes;
        kind = plain_writes ? FindingKind::atomic_race : FindingKind::beside_atomic;
    }
    RawFinding finding = describe(kind, &object, touch);
    finding.before.program_counter = earlier.place;
    finding.before.writes = earlier_writes;
    finding.before.atomic = earlier.atomic;
    fill_place(finding.before.thread, unfold(earlier.thread, grid_->threads));
    const std::uint64_t turn = earlier.block - histories_.order.first_block();
    const std::uint64_t blocks = std::uint64_t{grid_->blocks.x} * grid_->blocks.y * grid_->blocks.z;
    fill_place(finding.before.block,
               unfold(grid_->backward ? blocks - 1 - turn : turn, {grid_->blocks.x, grid_->blocks.y, grid_->blocks.z}));
    finding.other_width = touch.other_width;
    if (kind == FindingKind::race && !object.is_shared() && is_passed_twice(object))
        copy_name(finding.detail, sizeof finding.detail, ("the launch at line " + std::to_string(grid_->line)).c_str());
    const Mark& read = touch.atomic ? earlier : now;
    if (kind == FindingKind::beside_atomic && read.is_volatile) return;  // a deliberate read
    if (kind == FindingKind::beside_atomic && object.is_shared() && earlier.bytes == now.bytes) {
        const auto iterator = reads_beside_atomics_.try_emplace(read.place, finding, 0).first;
        ++iterator->second.second;
        return;
    }
    if (kind == FindingKind::race && earlier_writes && touch.writes && touch.width <= sizeof pending_.old) {
        pending_ = {true, finding, touch.address, touch.width, {}};
        std::memcpy(pending_.old, reinterpret_cast<const void*>(touch.address), touch.width);
    } else {
        record_finding(finding);
    }
}

/// Record the pending finding, now that its write has happened.
void Sanitizer::settle() {
    if (!pending_.active) return;
    pending_.active = false;
    RawFinding finding = pending_.finding;
    const bool is_unchanged =
        std::memcmp(pending_.old, reinterpret_cast<const void*>(pending_.address), pending_.width) == 0;
    if (is_unchanged) finding.kind = static_cast<std::uint32_t>(FindingKind::same_value);
    record_finding(finding);
}

/// Report reads of words that other threads update atomically. A guard may read an old value, because the atomic update
/// that follows it is correct in any case. A thread that only reads can miss updates: a barrier is missing. A line can
/// have several places, some of which do not lead to the update. The judge therefore treats all places in a guard's
/// line as guards. For this purpose, the guards are recorded, too, unless all places are guards.
void Sanitizer::report_reads_beside_atomics() {
    const bool all_guard =
        std::ranges::all_of(reads_beside_atomics_, [&](const auto& entry) { return guards_.count(entry.first) != 0; });
    for (const std::uint32_t place : guards_)
        if (!all_guard) record_guard(place);
    for (auto& [place, entry] : reads_beside_atomics_) {
        auto& [finding, times] = entry;
        if (!guards_.count(place)) finding.kind = static_cast<std::uint32_t>(FindingKind::atomic_race);
        record_finding(finding, times);
    }
    reads_beside_atomics_.clear();
}

template <class Find>
Sanitizer::Earlier Sanitizer::find_unfinished(const History& history, unsigned bytes, bool writes, bool atomic,
                                              Find work_of) {
    for (const AccessKind kind : {AccessKind::plain_write, AccessKind::atomic, AccessKind::plain_read}) {
        if (kind == AccessKind::atomic ? atomic : kind == AccessKind::plain_read && !writes) continue;
        const Mark& latest = history.latest[static_cast<unsigned>(kind)];
        if (!latest.block || !(latest.bytes & bytes)) continue;
        if (const Work* work = work_of(latest.block)) return {work, &latest};
    }
    return {};
}

void Sanitizer::record_unfinished(RawFinding finding, const Earlier& earlier) {
    const auto& [work, mark] = earlier;
    const bool of_host = finding.kernel[0] == 0;
    if (!of_host && work->graph && work->graph == timeline.running().graph)
        finding.kind = static_cast<std::uint32_t>(FindingKind::unordered_nodes);
    finding.before.program_counter = mark->place;
    finding.before.atomic = mark->atomic;
    finding.other_line = work->line;
    copy_name(finding.detail, sizeof finding.detail, work->name.c_str());
    record_finding(finding);
}

/// Report a kernel's access that conflicts with unfinished work in another stream.
void Sanitizer::look_for_unfinished(const Object& object, const History& history, const Mark& mark,
                                    const Touch& touch) {
    const std::uint32_t first_block = histories_.order.first_block();
    const Earlier earlier =
        find_unfinished(history, mark.bytes, touch.writes, touch.atomic, [&](std::uint32_t epoch) -> const Work* {
            return epoch < first_block ? timeline.unordered_work(epoch) : nullptr;
        });
    if (earlier.first) record_unfinished(describe(FindingKind::unfinished, &object, touch), earlier);
}

/// Report a copy or a fill that conflicts with unfinished work. Report at most one finding.
void Sanitizer::look_for_unfinished_copies(const Object& object, std::uintptr_t begin, std::size_t bytes, bool writes) {
    if (!timeline.may_run_with_other_work() || !object.histories) return;
    const Work& running = timeline.running();
    const std::size_t first = begin / word_bytes - object.begin / word_bytes;
    for (std::size_t word = first; word < std::min(first + (bytes + 3) / word_bytes, object.word_count); ++word) {
        const Earlier earlier =
            find_unfinished(object.histories[word], 0xf, writes, false, [&](std::uint32_t epoch) -> const Work* {
                return epoch < running.first_epoch ? timeline.unordered_work(epoch) : nullptr;
            });
        if (!earlier.first) continue;
        RawFinding finding = describe(FindingKind::unfinished, &object, {{.writes = writes}, 0, begin, 1});
        finding.offset = static_cast<std::int64_t>((word - first) * word_bytes + begin - object.begin);
        finding.line = running.line;
        copy_name(finding.kernel, sizeof finding.kernel, running.name.c_str());
        return record_unfinished(finding, earlier);
    }
}

void Sanitizer::look_for_unfinished_host(const Object& object, const Touch& touch) {
    if (!timeline.has_unfinished_work() || !object.histories) return;
    const std::size_t word = touch.address / word_bytes - object.begin / word_bytes;
    const Earlier earlier = find_unfinished(object.histories[word], 0xf, touch.writes, false,
                                            [](std::uint32_t epoch) { return timeline.unfinished_work(epoch); });
    if (earlier.first) record_unfinished(describe(FindingKind::unfinished, &object, touch), earlier);
}

void Sanitizer::note_async_copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, std::uintptr_t barrier,
                                unsigned phase, std::uint32_t place) {
    if (!grid_ || bytes == 0) return;
    if (async_block_ != block_state.epoch) async_.forget();
    async_block_ = block_state.epoch;
    const unsigned thread = linear_thread();
    const AsyncCopy copy{to + bytes, barrier, thread, async_.batches[thread], phase, place};
    async_.copies[to] = copy;
    if (!from) return;
    AsyncCopy& source = async_.sources[{from, thread}] = copy;
    source.end = from + bytes;
    async_.longest_source = std::max(async_.longest_source, bytes);
}

void Sanitizer::report_misaligned_copy(const Touch& touch) {
    if (!grid_) return;
    record(FindingKind::misaligned, find_any(touch.address), touch);
}

template <class Predicate>
void Sanitizer::finish_async(Predicate is_over) {
    std::erase_if(async_.copies, [&](const auto& entry) { return is_over(entry.second); });
    std::erase_if(async_.sources, [&](const auto& entry) { return is_over(entry.second); });
}

void Sanitizer::note_async_wait(unsigned prior) {
    if (!async_.any()) return;
    const unsigned thread = linear_thread(), open = async_.batches[thread];
    finish_async(
        [&](const AsyncCopy& copy) { return copy.thread == thread && !copy.barrier && open - copy.batch > prior; });
}

void Sanitizer::note_async_phases(std::uintptr_t barrier, unsigned phase) {
    if (!async_.any()) return;
    finish_async(
        [&](const AsyncCopy& copy) { return copy.barrier == barrier && static_cast<int>(phase - copy.phase) > 0; });
}

const AsyncCopy* Sanitizer::copy_to(const Touch& touch) const {
    const auto after = async_.copies.lower_bound(touch.address + touch.width);
    if (after == async_.copies.begin()) return nullptr;
    const AsyncCopy& copy = std::prev(after)->second;
    return copy.end > touch.address ? &copy : nullptr;
}

/// Return an unfinished copy that reads these bytes. Sources may overlap: several threads may copy the same bytes.
const AsyncCopy* Sanitizer::copy_from(const Touch& touch) const {
    auto source = async_.sources.lower_bound({touch.address + touch.width, 0});
    while (source != async_.sources.begin()) {
        --source;
        if (source->first.first + async_.longest_source <= touch.address) return nullptr;
        if (source->second.end > touch.address) return &source->second;
    }
    return nullptr;
}

/// Look for unfinished copies of all threads of the block, because barriers do not wait for copies.
void Sanitizer::look_for_unfinished_async(const Object& object, const Touch& touch) {
    if (async_block_ != block_state.epoch) return async_.forget();
    const AsyncCopy* const to = copy_to(touch);
    const AsyncCopy* const copy = to || !touch.writes ? to : copy_from(touch);
    if (!copy) return;
    RawFinding finding = describe(FindingKind::unfinished_async, &object, touch);
    finding.before.program_counter = copy->place;
    finding.before.writes = copy == to;
    record_finding(finding);
}

void Sanitizer::look_for_race(Object& object, std::size_t index, Mark mark, const Touch& touch) {
    History& history = object.histories.words()[index];
    const bool shared = object.is_shared();
    histories_.end_row(history, shared);
    if (touch.is_volatile && touch.writes)
        mark.polled = histories_.last_own(history, AccessKind::plain_read, mark) != nullptr;
    if (timeline.may_run_with_other_work() && !shared) look_for_unfinished(object, history, mark, touch);
    const auto check_against = [&](AccessKind kind) {
        if (const Mark* earlier = histories_.last_unordered(
                history, mark, {kind, shared, touch.writes, first_byte_of(object.address_of_word(index), mark.bytes)}))
            report_race(object, *earlier, kind != AccessKind::plain_read, mark, touch);
    };
    check_against(AccessKind::plain_write);
    if (!touch.atomic) check_against(AccessKind::atomic);
    if (touch.writes) check_against(AccessKind::plain_read);
    if (touch.is_volatile && !touch.writes && !shared)
        if (const Mark* write =
                histories_.find_unfenced_write(history, mark, first_byte_of(object.address_of_word(index), mark.bytes)))
            report_race(object, *write, true, mark, touch);
    if (touch.atomic && shared)
        if (const Mark* read = histories_.last_own(history, AccessKind::plain_read, mark)) guards_.insert(read->place);
    histories_.add(history, touch.kind(), mark, shared);
}

const Object* Sanitizer::nearest_shared(std::uintptr_t address) const {
    const auto after = shared_.upper_bound(address);
    return after == shared_.begin() ? nullptr : &std::prev(after)->second;
}

/// Return the shared object that begins shortly before an address in the host's memory; null if no object does. A
/// block's shared memory is surrounded by memory of the host, so an access beyond an array's end can reach that memory.
const Object* Sanitizer::beyond_shared(std::uintptr_t address) {
    constexpr std::uintptr_t max_beyond = std::uintptr_t{1} << 20;
    const Object* const object = nearest_shared(address);
    return object && address - object->begin <= max_beyond ? object : nullptr;
}

/// Return whether a parameter of the kernel, or a member of one, points to memory of the host near the address.
bool Sanitizer::has_host_argument_near(std::uintptr_t address) {
    constexpr std::uintptr_t max_of_host = std::uintptr_t{1} << 26;
    const auto* const bytes = static_cast<const char*>(grid_->closure);
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= grid_->closure_bytes; at += sizeof(std::uintptr_t)) {
        std::uintptr_t word;
        std::memcpy(&word, bytes + at, sizeof word);
        const bool is_near = std::max(word, address) - std::min(word, address) < max_of_host;
        if (is_near && !find(device_, last_device_, word)) return true;
    }
    return false;
}

/// Return the bytes of the word that were written, one bit each.
unsigned Sanitizer::written_of(const Object& object, std::size_t index) const {
    const bool stale = object.is_shared() && object.histories[index].block != block_state.epoch;
    return stale ? 0 : object.bytes_of_word(index).written;
}

/// Return the bytes of the word that lie after the end of a row, if the access begins in the row.
unsigned padding_in(const Object& object, const Touch& touch) {
    if (!object.pitch) return 0;
    const std::size_t column = (touch.address - object.begin) % object.pitch;
    const std::size_t remaining = column < object.width ? object.width - column : word_bytes;
    return ~0u << (touch.address % word_bytes + std::min(remaining, word_bytes));
}

/// Report a read of unwritten bytes. One unwritten byte is enough, because a copy may have ended within a word. For a
/// vector, all bytes must be unwritten, because it may extend into the padding of a row or of a struct.
void Sanitizer::look_for_unwritten(const Object& object, std::size_t first, unsigned bytes, const Touch& touch) {
    if (object.holds_data) return;
    const FindingKind kind = object.constant ? FindingKind::unset_constant : FindingKind::uninitialised;
    const bool is_vector = touch.width > word_bytes && !touch.atomic;
    if (!is_vector) bytes &= ~padding_in(object, touch);
    bool any = false, all = true;
    for (std::size_t word = 0; word * word_bytes < touch.width; ++word) {
        const unsigned written = bytes & written_of(object, first + word);
        any = any || written;
        all = all && written == bytes;
    }
    if (all || (is_vector && any)) return;
    RawFinding finding = describe(kind, &object, touch);
    if (unwritten_places_.insert(touch.place).second) note_writer(finding, object, touch);
    record_finding(finding);
}

/// Report a copy of a whole struct if no byte of it was written. If only some bytes were written, the others may be
/// padding.
void Sanitizer::check_copied_struct(const Touch& whole) {
    const Object* const object = find_any(whole.address);
    if (!object || object->freed || object->holds_data || whole.address < object->begin ||
        whole.address + whole.width > object->begin + object->bytes)
        return;
    for (std::uintptr_t at = whole.address; at < whole.address + whole.width; ++at)
        if (written_of(*object, at / word_bytes - object->begin / word_bytes) >> at % word_bytes & 1) return;
    record(object->constant ? FindingKind::unset_constant : FindingKind::uninitialised, object, whole);
}

void Sanitizer::check_word(Object& object, std::size_t index, std::uint8_t bytes, const Touch& touch) {
    if (!object.histories) return void(object.bytes_of_inputs[index].read |= bytes);
    History& history = object.histories.words()[index];
    if (object.is_shared() && history.block != block_state.epoch) {
        history.block = block_state.epoch;
        history.bytes.written = 0;
    }
    if (touch.writes) history.bytes.written |= bytes;
    if (touch.reads()) history.bytes.read |= bytes;
    const Mark mark = histories_.order.mark(touch.place, bytes, touch.atomic, touch.is_volatile);
    look_for_race(object, index, mark, touch);
    if (touch.atomic || touch.is_volatile)
        histories_.order.note_strong_access(first_byte_of(object.address_of_word(index), bytes), object.is_shared(),
                                            touch.place, touch.atomic, touch.reads(), touch.writes);
}

AccessCounts& Sanitizer::remember(Object& object, std::size_t index, const LoggedAccess& access) {
    if (object.has_kept_words) return counts_of_accesses(access);
    Recent& recent = recent_at(access.place);
    const Range ready = object.ready_around(index);
    if (recent.key == key_of(access.place) && recent.object == &object && recent.kind == access.kind) {
        recent.begin = ready.begin;
        recent.bytes = ready.bytes;
        return *recent.counts;
    }
    recent = {.key = key_of(access.place),
              .begin = ready.begin,
              .bytes = ready.bytes,
              .log_from = object.is_shared() ? block_state.tls_begin : 0,
              .first_word = object.begin / word_bytes,
              .object = &object,
              .histories = object.histories.words(),
              .counts = &counts_of_accesses(access),
              .shared = object.is_shared(),
              .holds_data = object.holds_data,
              .kind = access.kind};
    return *recent.counts;
}

template <unsigned width>
WARPLAB_CPU_INLINE bool Sanitizer::access_on_fast_path(const Touch& touch) {
    const Recent& recent = recent_at(touch.place);
    const std::uintptr_t offset = touch.address - recent.begin;
    if (recent.key != key_of(touch.place) || pending_.active || async_.any() || touch.address % width) return false;
    if (recent.bytes < width || offset > recent.bytes - width) return false;
    if (touch.atomic && (recent.object->atomic_widths & ~width)) return false;
    const std::size_t first = touch.address / word_bytes - recent.first_word;
    const unsigned bytes = width < word_bytes ? ((1u << width) - 1) << touch.address % word_bytes : 0xf;
    constexpr std::size_t words = (width + word_bytes - 1) / word_bytes;
    if (recent.histories) {
        History* const histories = recent.histories + first;
        for (std::size_t i = 0; i < words; ++i)
            if (!is_written(recent, histories[i], bytes, touch)) return false;
        for (std::size_t i = 0; i < words; ++i) check_word_quickly(recent, first + i, bytes, touch);
    } else {
        if (touch.writes || !recent.holds_data) return false;
        for (std::size_t i = 0; i < words; ++i) recent.object->bytes_of_inputs[first + i].read |= bytes;
    }
    ++recent.counts->accesses;
    if (counts_requests_of_block())
        log_access({touch.address - recent.log_from, touch.place, width, touch.writes, touch.atomic, recent.kind});
    return true;
}

/// Return whether the bytes that the access reads were written. In shared memory, the running block must have used the
/// word before, because writes of other blocks do not count.
WARPLAB_CPU_INLINE bool Sanitizer::is_written(const Recent& recent, const History& history, unsigned bytes,
                                              const Touch& touch) {
    if (recent.shared && history.block != block_state.epoch) return false;
    return !touch.reads() || recent.holds_data || !(bytes & ~history.bytes.written);
}

WARPLAB_CPU_INLINE void Sanitizer::check_word_quickly(const Recent& recent, std::size_t index, unsigned bytes,
                                                      const Touch& touch) {
    History& history = recent.histories[index];
    if (touch.writes) history.bytes.written |= bytes;
    if (touch.reads()) history.bytes.read |= bytes;
    Mark mark = histories_.order.mark(touch.place, bytes, touch.atomic, touch.is_volatile);
    if (touch.is_volatile && touch.writes)
        mark.polled = histories_.latest_is_own(history, AccessKind::plain_read, mark);
    const bool is_guard =
        touch.atomic && recent.shared && histories_.latest_is_own(history, AccessKind::plain_read, mark);
    const bool has_other_work = !recent.shared && timeline.may_run_with_other_work();
    if (is_guard || has_other_work ||
        !(histories_.add_if_alone(history, touch.kind(), mark, recent.shared) ||
          histories_.add_if_quiet(history, touch.kind(), mark, recent.shared)))
        look_for_race(*recent.object, index, mark, touch);
    if (touch.atomic || touch.is_volatile)
        histories_.order.note_strong_access(first_byte_of(recent.first_word + index, bytes), recent.shared, touch.place,
                                            touch.atomic, touch.reads(), touch.writes);
}

void Sanitizer::access(const Touch& touch) {
    settle();
    Object* object;
    if (is_shared(reinterpret_cast<void*>(touch.address))) {
        object = find(shared_, last_shared_, touch.address);
        // A file-scope `extern __shared__` becomes a reference. The reference and its guard are thread-local as well.
        const bool may_be_reference = touch.width == sizeof(void*) || touch.width == 1;
        if (!object && may_be_reference) return;
        if (!object) return record(FindingKind::out_of_bounds, nearest_shared(touch.address), touch);
    } else if (object = find(device_, last_device_, touch.address); !object) {
        if (touch.address - number(grid_->closure) < grid_->closure_bytes) return;  // the kernel's parameters
        const bool is_on_host_stack = touch.address >= quick.stack && touch.address < quick.stack_end;
        const bool belongs_to_host = is_on_host_stack || host_buffer_at(touch.address);
        if (may_be_unlisted_variable(reinterpret_cast<void*>(touch.address))) return;
        const PageKind page = belongs_to_host ? PageKind::host : page_kind_at(touch.address);
        if (page == PageKind::host) {
            const Object* before = nullptr;
            if (!has_host_argument_near(touch.address)) before = beyond_shared(touch.address);
            if (!before && !belongs_to_host && !has_host_argument_near(touch.address))
                before = intended_object(nullptr, touch);
            record(before ? FindingKind::out_of_bounds : FindingKind::host_memory, before, touch);
        }
        if (page == PageKind::inaccessible || (page == PageKind::read_only && touch.writes))
            record(FindingKind::out_of_bounds, intended_object(nearest(touch.address), touch), touch);
        return;
    }
    if (object->freed) return record(FindingKind::use_after_free, object, touch);
    if (touch.address < object->begin || touch.address + touch.width > object->begin + object->bytes) {
        if (touch.address - object->begin >= object->bytes &&
            may_be_unlisted_variable(reinterpret_cast<void*>(touch.address)))
            return;
        return record(FindingKind::out_of_bounds, intended_object(object, touch), touch);
    }
    if (touch.writes && object->is_input) return record(FindingKind::input_written, object, touch);
    if (touch.writes && object->constant) return record(FindingKind::constant_written, object, touch);
    if (touch.address & (touch.width - 1)) return record(FindingKind::misaligned, object, touch);
    if (object->space == FindingSpace::shared) note_shared_access(*object, touch);
    if (async_.any()) look_for_unfinished_async(*object, touch);
    const std::uintptr_t from = object->is_shared() ? block_state.tls_begin : 0;
    const LoggedAccess access{touch.address - from, touch.place,  static_cast<std::uint8_t>(touch.width),
                              touch.writes,         touch.atomic, object->memory_kind()};
    const std::size_t first = touch.address / word_bytes - object->begin / word_bytes;
    if (object->histories) object->histories.prepare(first, first + std::max<std::size_t>(touch.width / word_bytes, 1));
    if (object->has_kept_words) look_for_kept_words(*object, touch);
    ++remember(*object, first, access).accesses;
    if (counts_requests_of_block()) log_access(access);
    const unsigned bytes = touch.width < word_bytes ? ((1u << touch.width) - 1) << touch.address % word_bytes : 0xf;
    if (!touch.copies && touch.reads()) look_for_unwritten(*object, first, bytes, touch);
    if (touch.atomic && touch.width >= word_bytes && object->histories) look_for_other_width(*object, first, touch);
    for (std::size_t word = 0; word * word_bytes < touch.width; ++word)
        check_word(*object, first + word, static_cast<std::uint8_t>(bytes), touch);
}

void Sanitizer::reach_barrier(std::uint32_t place, int line) {
    if (!grid_) return;
    settle();
    const Touch arrival{{}, place};
    const std::uint64_t here = std::uint64_t{block_state.epoch} << 32 | block_state.generation;
    if (here != first_arrival_.barrier) {
        first_arrival_ = {here, arrival, describe_access_side(arrival), line};
    } else if (line != first_arrival_.line) {
        RawFinding finding = describe(FindingKind::divergent_barrier, nullptr, arrival);
        finding.before = first_arrival_.side;
        const bool same_thread = std::equal(finding.now.thread, finding.now.thread + 3, finding.before.thread);
        if (!same_thread) record_finding(finding);  // otherwise, this thread is alone: the others have returned
    }
}

void Sanitizer::early_exit() {
    if (!grid_) return;
    RawFinding finding = describe(FindingKind::return_before_barrier, nullptr, first_arrival_.touch);
    finding.now = first_arrival_.side;
    finding.threads_missing = block_state.threads - block_state.alive;
    record_finding(finding);
}

/// Record an atomic of block scope before it accesses the word, and report a race with an atomic of another block.
void Sanitizer::note_block_scope(const Touch& touch) {
    const Object* const object = is_shared(reinterpret_cast<void*>(touch.address)) ? nullptr : nearest(touch.address);
    if (!object || touch.address - object->begin >= object->bytes || !object->histories) return;
    settle();
    const std::uintptr_t word = touch.address / word_bytes;
    const Mark mark = histories_.order.mark(touch.place, 0xf, true, false);
    const auto is_race = [&](const Mark& earlier) {
        return earlier.block >= histories_.order.first_block() && earlier.block != mark.block &&
               !histories_.order.is_ordered(earlier);
    };
    const auto iterator = writes_for_one_block_.find(word);
    const Mark& any_scope =
        object->histories[word - object->begin / word_bytes].latest[static_cast<unsigned>(AccessKind::atomic)];
    if (iterator != writes_for_one_block_.end() && is_race(iterator->second))
        report_race(*object, iterator->second, true, mark, touch);
    else if (touch.writes && is_race(any_scope))
        report_race(*object, any_scope, true, mark, touch);
    if (touch.writes) writes_for_one_block_[word] = mark;
}

/// Report atomics of different widths on the same word: atomics exclude each other only if they have the same width.
/// Widths are recorded from an object's first atomic of a second width on; all earlier ones have first_atomic_width.
void Sanitizer::look_for_other_width(Object& object, std::size_t first, Touch touch) {
    if (!object.first_atomic_width) object.first_atomic_width = touch.width;
    object.atomic_widths |= touch.width;
    if (object.atomic_widths == touch.width) return;
    const Mark mark = histories_.order.mark(touch.place, 0xf, true, false);
    for (std::size_t word = 0; word * word_bytes < touch.width; ++word) {
        const Mark& latest = object.histories[first + word].latest[static_cast<unsigned>(AccessKind::atomic)];
        auto& [earlier, width] =
            atomics_by_width_.try_emplace(touch.address / word_bytes + word, latest, object.first_atomic_width)
                .first->second;
        const bool is_own = earlier.block == mark.block && earlier.thread == mark.thread;
        const bool other_memory = object.is_shared() && earlier.block != mark.block;
        if (width != touch.width && !other_memory && earlier.block >= histories_.order.first_block() && !is_own &&
            !histories_.order.is_ordered(earlier)) {
            touch.other_width = width;
            report_race(object, earlier, true, mark, touch);
        }
        earlier = mark;
        width = touch.width;
    }
}

/// Return a finding that names a line of the file instead of an access; line 0 if the caller sets a program counter.
RawFinding at_line(FindingKind kind, int line, const char* object, const std::string& detail) {
    RawFinding finding{};
    finding.kind = static_cast<std::uint32_t>(kind);
    finding.line = line;
    copy_name(finding.object, sizeof finding.object, object);
    copy_name(finding.detail, sizeof finding.detail, detail.c_str());
    return finding;
}

void Sanitizer::defect_found(FindingKind kind, int line, const char* function, const std::string& reason) {
    RawFinding finding = at_line(kind, line, function, reason);
    if (grid_) {
        finding.now = describe_access_side({});
        copy_name(finding.kernel, sizeof finding.kernel, grid_->kernel);
    }
    record_finding(finding);
}

std::uint32_t caller_place(void* return_address) {
    return static_cast<std::uint32_t>(number(return_address) - 1 - quick.executable);
}

void Sanitizer::freed_wrongly(const void* pointer, const char* function, const std::string& reason, void* caller) {
    const Object* const object = find(device_, last_device_, number(pointer));
    const char* const unknown =
        object && object->freed ? "that memory was freed before" : "no CUDA function allocated it";
    RawFinding finding = at_line(FindingKind::invalid_free, 0, function, reason.empty() ? unknown : reason);
    finding.now.program_counter = caller_place(caller);
    record_finding(finding);
}

void Sanitizer::report_index_beyond(std::int64_t index, const char* array, std::uint32_t column, std::uint32_t place) {
    RawFinding finding = describe(FindingKind::out_of_bounds, nullptr, {{}, place});
    finding.space = static_cast<std::uint32_t>(FindingSpace::declared);
    finding.offset = index;
    finding.width = column;
    copy_name(finding.detail, sizeof finding.detail, array);
    record_finding(finding);
}

void Sanitizer::launch_failed(int line, const char* kernel, LaunchLimit limit, const std::string& reason) {
    if (failed_launch_.kind) return;
    failed_launch_ = at_line(FindingKind::failed_launch, line, "", reason);
    failed_launch_.limit = static_cast<std::uint32_t>(limit);
    copy_name(failed_launch_.kernel, sizeof failed_launch_.kernel, kernel);
}

void Sanitizer::report_failed_launch() {
    if (failed_launch_.kind) record_finding(failed_launch_);
    failed_launch_ = {};
}

/// Report the memory that was allocated since the last call began and not freed. Each allocation is reported once.
void Sanitizer::report_leaks() {
    for (auto& [zone, object] : device_) {
        if (object.line && !object.freed) {
            RawFinding finding = at_line(FindingKind::leak, object.line, "", "");
            finding.bytes = object.bytes;
            record_finding(finding);
        }
        object.line = 0;
    }
}

/// Report streams and events that each call creates and does not destroy. A program may create some in its first call
/// and keep them, so a line is reported only if an earlier call also kept a stream or event that it created there.
void Sanitizer::report_not_destroyed() {
    std::set<int> lines;
    for (const auto& [handle, by] : handles_) {
        if (lines_of_kept_handles_.contains(by.line))
            record_finding(at_line(FindingKind::not_destroyed, by.line, by.call, by.destroyed_by));
        lines.insert(by.line);
    }
    lines_of_kept_handles_.merge(lines);
    handles_.clear();
}

void Sanitizer::call_begins() {
    handles_.clear();
    grids_.clear();
    add_variables();
    for (auto& [zone, object] : device_) {
        object.line = 0;
        find_kept_words(object);
    }
    objects_changed();
}

/// Compare a small device variable with its contents when the first call began.
void Sanitizer::find_kept_words(Object& object) {
    if (object.space != FindingSpace::variable || object.constant || object.host_may_use) return;
    if (object.bytes > KeptWords::max_bytes || object.begin % word_bytes) return;
    forget_kept_words(object, object.begin, object.bytes);
    const auto [first, is_new] = kept_words_.first.try_emplace(object.begin);
    std::vector<int> now(object.bytes / word_bytes);
    std::memcpy(now.data(), reinterpret_cast<const void*>(object.begin), now.size() * word_bytes);
    if (is_new) first->second = now;
    for (std::size_t i = 0; i < std::min(now.size(), first->second.size()); ++i)
        if (now[i] != first->second[i]) kept_words_.words[object.begin + i * word_bytes] = first->second[i];
    object.has_kept_words = !kept_words_.words.empty() && now != first->second;
}

void Sanitizer::forget_kept_words(Object& object, std::uintptr_t begin, std::size_t bytes) {
    if (!object.has_kept_words) return;
    kept_words_.words.erase(kept_words_.words.lower_bound(begin / word_bytes * word_bytes),
                            kept_words_.words.lower_bound(begin + bytes));
}

/// Report, as a note, a call's first read of a word that an earlier call has changed.
void Sanitizer::look_for_kept_words(Object& object, const Touch& touch) {
    const auto iterator = kept_words_.words.find(touch.address / word_bytes * word_bytes);
    if (iterator != kept_words_.words.end() && touch.reads()) {
        int now;
        std::memcpy(&now, reinterpret_cast<const void*>(iterator->first), sizeof now);
        RawFinding finding = describe(FindingKind::kept_value, &object, touch);
        copy_name(
            finding.detail, sizeof finding.detail,
            ("it was " + std::to_string(iterator->second) + " before the first call, and is now " + std::to_string(now))
                .c_str());
        record_finding(finding);
    }
    forget_kept_words(object, touch.address, touch.width);
}

void Sanitizer::call_ends() {
    if (const Work* work = timeline.unjoined_work())
        record_finding(at_line(FindingKind::unjoined, work->line, "", work->name.c_str()));
    timeline.synchronise();  // as the runner does on a GPU
    report_failed_launch();
    if (called_) report_leaks();
    report_not_destroyed();
    called_ = true;
}

void Sanitizer::device_reset() {
    const DeviceLock lock = lock_device();
    report_failed_launch();
    report_leaks();
    handles_.clear();
}

/// Inspect an access by the student's host code. It may use managed and pinned memory, but no other device memory.
void Sanitizer::host_access(const Touch& touch) {
    look_beyond_vector(touch);
    const DeviceLock lock = try_to_lock_device();  // a kernel of another host thread may be waiting for this one
    if (!lock) return;
    add_variables();
    Object* const object = find(device_, last_device_, touch.address);
    if (!object || object->freed) return;
    if (touch.address < object->begin || touch.address >= object->begin + object->bytes) return;
    if (object->host_may_use) return look_for_unfinished_host(*object, touch);
    record(FindingKind::device_memory, object, touch);
    if (touch.writes) mark_bytes(*object, touch.address, touch.width, &Bytes::written);
}

}  // namespace

void note_barrier(int line) {
    if (tracing) return trace_operation(OperationKind::barrier, __builtin_return_address(0));
    if (the_sanitizer) sanitizer().reach_barrier(caller_place(__builtin_return_address(0)), line);
}
void note_grid_arrival() {
    if (the_sanitizer) sanitizer().arrive_at_grid_barrier();
}
void note_fence() {
    if (tracing) return trace_operation(OperationKind::fence, __builtin_return_address(0));
    if (the_sanitizer) sanitizer().execute_fence(true);
}
void note_async_copy(void* to, const void* from, std::size_t bytes, const void* barrier, unsigned phase) {
    if (!the_sanitizer) return;
    const std::uint32_t place = caller_place(__builtin_return_address(0));
    sanitizer().note_async_copy(number(to), number(from), bytes, number(barrier), phase, place);
}
void report_misaligned_copy(const void* address, std::size_t alignment, bool writes) {
    void* const caller = __builtin_return_address(0);
    if (!the_sanitizer) end_with_misaligned(address, caller);
    sanitizer().report_misaligned_copy(
        {{.writes = writes}, caller_place(caller), number(address), static_cast<unsigned>(alignment)});
}
void note_async_commit() {
    if (the_sanitizer) sanitizer().note_async_commit();
}
void note_async_wait(unsigned prior) {
    if (the_sanitizer) sanitizer().note_async_wait(prior);
}
void note_async_phases(const void* barrier, unsigned phase) {
    if (the_sanitizer) sanitizer().note_async_phases(number(barrier), phase);
}
void note_block_fence() {
    if (tracing) return trace_operation(OperationKind::fence, __builtin_return_address(0));
    if (the_sanitizer) sanitizer().execute_fence(false);
}
void note_block_scope(const volatile void* place, std::size_t bytes, bool writes) {
    if (!the_sanitizer || !quick.in_grid || quick.kernel_thread != &block_state) return;
    const auto address = reinterpret_cast<std::uintptr_t>(place);
    const auto caller = caller_place(__builtin_return_address(0));
    if (address - quick.stack >= quick.stack_bytes)
        sanitizer().note_block_scope(
            {{.writes = writes, .atomic = true}, caller, address, static_cast<unsigned>(bytes)});
}
void note_built_ins(bool begin) {
    if (!the_sanitizer) return;
    quick.learns_built_ins = begin;
    if (begin) quick.built_ins.clear();
}

}  // namespace warplab_cpu

void warplab::cpu::use_sanitizer(bool on) {
    using namespace warplab_cpu;
    mode_is_known = true;
    if (!on) return;
    observer = the_sanitizer = new Sanitizer;
    quick.executable = executable_begin();
    std::atexit([] { sanitizer().report_failed_launch(); });
}

void warplab::cpu::begin_trace(const trace::Order& order, int file) { warplab_cpu::begin_trace(order, file); }

void warplab::cpu::begin_call() {
    warplab_cpu::forget_launches();
    if (warplab_cpu::observer) warplab_cpu::observer->call_begins();
}

void warplab::cpu::begin_dataset(bool counts_requests) {
    if (!warplab_cpu::the_sanitizer) return;
    warplab_cpu::forget_counts();
    warplab_cpu::counts_requests = counts_requests;
    warplab_cpu::sanitizer().begin_dataset();
}

void warplab::cpu::end_call() {
    if (warplab_cpu::observer) warplab_cpu::observer->call_ends();
}

warplab::Observations warplab::cpu::observed() {
    using namespace warplab_cpu;
    Observations observed{};
    observed.findings = digest_of_findings();
    observed.finding_count = recorded_findings();
    observed.replaced_handlers = count_replaced_handlers();
    observed.launch_digest = launch_digest();
    if (the_sanitizer) sanitizer().count_bytes(observed);
    return observed;
}

void warplab::cpu::begin_buffer(void* memory, std::size_t memory_bytes, void* begin, std::size_t bytes, bool holds_data,
                                bool is_constant, std::uint32_t buffer) {
    if (warplab_cpu::tracing) warplab_cpu::trace_buffer(begin, bytes);
    if (warplab_cpu::the_sanitizer)
        warplab_cpu::sanitizer().begin_buffer(memory, memory_bytes, begin, bytes, holds_data, is_constant, buffer);
}

void warplab::cpu::begin_host_buffer(void* memory, std::size_t memory_bytes, void* begin, std::size_t bytes) {
    warplab_cpu::add_host_buffer(memory, memory_bytes);
    if (warplab_cpu::the_sanitizer) warplab_cpu::sanitizer().begin_host_buffer(memory, memory_bytes, begin, bytes);
}

void warplab::cpu::end_host_buffer(void* memory) {
    warplab_cpu::remove_host_buffer(memory);
    if (warplab_cpu::the_sanitizer) warplab_cpu::sanitizer().end_host_buffer(memory);
}

void warplab::cpu::name_part(void* begin, std::size_t bytes, const char* name) {
    if (warplab_cpu::the_sanitizer) warplab_cpu::sanitizer().name_part(begin, bytes, name);
}

// The hooks, under the names that GCC expects.

namespace {

using warplab_cpu::atomic_update;
using warplab_cpu::plain_read;
using warplab_cpu::plain_write;
using warplab_cpu::sanitizer;

/// Inspect an access that the fast path does not handle.
__attribute__((noinline)) void observe_on_slow_path(const warplab_cpu::Touch& touch, void* caller) {
    using namespace warplab_cpu;
    void* const address = reinterpret_cast<void*>(touch.address);
    if (!the_sanitizer) {
        // A misaligned vector store fails on the CPU and on a GPU.
        if (touch.writes && touch.width == 16 && touch.address % touch.width && in_kernel() && !is_never_set(address))
            end_with_misaligned(address, caller);
        return;
    }
    if (!quick.in_grid) return sanitizer().host_access(touch);
    if (quick.kernel_thread != &block_state) return;
    if (touch.address - number(&block_state) < sizeof(Block)) return;
    if (quick.learns_built_ins) return quick.built_ins.add(touch.address, touch.width);
    if (!is_shared(address) && scheduler_memory.has(touch.address)) return;
    sanitizer().access(touch);
}

warplab_cpu::TracedAccess traced(const warplab_cpu::AccessMode& mode) {
    using enum warplab_cpu::TracedAccess;
    return mode.atomic && !mode.stores ? atomic : mode.writes ? write : read;
}

/// Trace a copy of a whole struct as accesses that are as wide as possible.
void trace_range(const void* address, unsigned long bytes, bool writes, void* caller) {
    if (!warplab_cpu::tracing) return;
    const auto* at = static_cast<const char*>(address);
    while (bytes > 0) {
        unsigned long part = 16;
        while (part > bytes || reinterpret_cast<std::uintptr_t>(at) % part) part /= 2;
        trace_access(at, part, writes ? warplab_cpu::TracedAccess::write : warplab_cpu::TracedAccess::read, caller);
        at += part;
        bytes -= part;
    }
}

template <unsigned width>
WARPLAB_CPU_INLINE void observe(const volatile void* pointer, warplab_cpu::AccessMode mode, void* caller) {
    using namespace warplab_cpu;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    const auto touch = [&] {  // called twice: the first result stays in registers, the second is passed to a function
        return Touch{mode, caller_place(caller), address, width};
    };
    if (quick.kernel_thread == &block_state) {
        if (address - quick.stack < quick.stack_bytes || quick.built_ins.has(address)) return;
        if (sanitizer().access_on_fast_path<width>(touch())) return;
    } else if (!the_sanitizer) {
        if (tracing) trace_access(pointer, width, traced(mode), caller);
        if (!(mode.writes && width == 16)) return;
    }
    observe_on_slow_path(touch(), caller);
}

/// Inspect an access that is rarer than a plain one. All such accesses share one copy of the fast path, so that this
/// file compiles faster.
template <unsigned width>
__attribute__((noinline)) void observe_rare(const volatile void* pointer, warplab_cpu::AccessMode mode, void* caller) {
    observe<width>(pointer, mode, caller);
}

WARPLAB_CPU_INLINE bool is_observed() { return warplab_cpu::the_sanitizer || warplab_cpu::tracing; }

/// Inspect a plain access. This function is not inlined into the hooks: most calls of hooks are made while the
/// sanitizer is off, and then return at once, without saving registers.
template <unsigned width, bool writes>
__attribute__((noinline)) void observe_plain(const volatile void* pointer, void* caller) {
    observe<width>(pointer, writes ? plain_write : plain_read, caller);
}

/// Inspect a volatile read. Other threads may run first, so that the kernel reads their writes.
template <unsigned width>
void observe_volatile_read(const volatile void* place, void* caller) {
    warplab_cpu::note_volatile_read(place, width, caller);
    observe_rare<width>(place, {.is_volatile = true}, caller);
}

/// Inspect an access to any number of bytes, as by memcpy or a copy of a struct.
void observe_range(const void* address, unsigned long bytes, bool writes, void* caller) {
    if (!warplab_cpu::the_sanitizer) return trace_range(address, bytes, writes, caller);
    if (warplab_cpu::quick.in_grid && warplab_cpu::quick.kernel_thread != &warplab_cpu::block_state) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    if (begin - warplab_cpu::quick.stack < warplab_cpu::quick.stack_bytes) return;
    if (warplab_cpu::quick.in_grid && warplab_cpu::scheduler_memory.has(begin)) return;
    if (warplab_cpu::quick.in_grid && !writes)
        sanitizer().check_copied_struct(
            {plain_read, warplab_cpu::caller_place(caller), begin, static_cast<unsigned>(bytes)});
    const warplab_cpu::AccessMode mode{.writes = writes, .copies = true};
    if (bytes == 8 && begin % 8 == 0) return observe_rare<8>(address, mode, caller);
    if (bytes == 16 && begin % 16 == 0) return observe_rare<16>(address, mode, caller);
    for (std::uintptr_t at = begin; at < begin + bytes;) {
        const bool is_whole_word = at % 4 == 0 && at + 4 <= begin + bytes;
        if (is_whole_word)
            observe_rare<4>(reinterpret_cast<void*>(at), mode, caller);
        else
            observe_rare<1>(reinterpret_cast<void*>(at), mode, caller);
        at += is_whole_word ? 4 : 1;
    }
}

/// Return the number of bytes that a search reads: up to and including the byte that it found; `all` if it found none.
unsigned long bytes_up_to(const void* from, const void* found, unsigned long all) {
    return found ? static_cast<unsigned long>(static_cast<const char*>(found) - static_cast<const char*>(from)) + 1
                 : all;
}

/// Return how many bytes of each string a comparison of the two must read, at most `n`.
unsigned long compared_bytes(const char* left, const char* right, unsigned long n) {
    unsigned long i = 0;
    while (i < n && left[i] == right[i] && left[i] != '\0') ++i;
    return std::min(i + 1, n);
}

/// A conversion of printf's format, such as %-8.3lf.
struct Conversion {
    bool is_long = false, is_long_double = false;
    int precision = -1;
    char letter = 0;
};

/// Read the conversion after a %, and the values of its asterisks.
Conversion read_conversion(const char*& format, va_list& values) {
    Conversion conversion;
    bool in_precision = false;
    for (; *format && strchr("-+ #0123456789.*hlLqjzt'I", *format); ++format) {
        if (*format == '.') in_precision = true, conversion.precision = 0;
        const int star = *format == '*' ? va_arg(values, int) : 0;
        if (in_precision && *format == '*') conversion.precision = star;
        if (in_precision && *format >= '0' && *format <= '9')
            conversion.precision = 10 * conversion.precision + (*format - '0');
        if (strchr("lLqjzt", *format)) conversion.is_long = true;
        if (*format == 'L') conversion.is_long_double = true;
    }
    conversion.letter = *format ? *format++ : 0;
    return conversion;
}

/// Inspect the strings that printf reads (%s) and the numbers that it writes (%n).
void observe_printed(const char* format, va_list& values, void* caller) {
    while ((format = strchr(format, '%'))) {
        const Conversion conversion = read_conversion(++format, values);
        if (conversion.letter == '$' && warplab_cpu::in_kernel())
            warplab_cpu::end_with_fault_at(caller, warplab::Fault::refused,
                                           "device code cannot call printf with argument numbers such as %1$d");
        if (conversion.letter == 0 || conversion.letter == '$') return;
        if (conversion.letter == 's') {
            const auto* text = va_arg(values, const char*);
            const auto limit = static_cast<unsigned long>(conversion.precision);  // -1: no limit
            if (text) observe_range(text, std::min(strnlen(text, limit) + 1, limit), false, caller);
        } else if (conversion.letter == 'n') {
            observe_range(va_arg(values, void*), conversion.is_long ? sizeof(long) : sizeof(int), true, caller);
        } else if (strchr("eEfFgGaA", conversion.letter)) {
            if (conversion.is_long_double)
                va_arg(values, long double);
            else
                va_arg(values, double);
        } else if (conversion.is_long || conversion.letter == 'p') {
            va_arg(values, long);
        } else if (!strchr("%m", conversion.letter)) {
            va_arg(values, int);
        }
    }
}

// If GCC lacks an atomic that GPUs have, the backend's headers use a relaxed load and a compare-and-exchange, which
// count as one access. Loads of cuda::atomic are never relaxed here.
struct Loaded {
    const volatile void* place = nullptr;
    unsigned block = 0, generation = 0, thread = 0;
    std::uint64_t fences = 0;
    bool operator==(const Loaded& other) const = default;
};
thread_local Loaded loaded;

Loaded loaded_here(const volatile void* place) {
    using namespace warplab_cpu;
    return {place, block_state.epoch, block_state.generation, linear_thread(),
            the_sanitizer ? sanitizer().fences() : 0};
}

template <unsigned width>
void observe_load(const volatile void* place, int order, void* caller) {
    if (!warplab_cpu::the_sanitizer && !warplab_cpu::tracing) return;
    if (order != __ATOMIC_RELAXED) return observe_rare<width>(place, {.is_volatile = true}, caller);
    observe_rare<width>(place, atomic_update, caller);
    loaded = loaded_here(place);
}

template <unsigned width>
void observe_exchange(const volatile void* place, void* caller) {
    if (!warplab_cpu::the_sanitizer && !warplab_cpu::tracing) return;
    if (!(loaded_here(place) == loaded)) observe_rare<width>(place, atomic_update, caller);
    loaded = {};
}

}  // namespace

#define WARPLAB_HERE __builtin_return_address(0)
#define WARPLAB_HOOKS(bytes)                                                                           \
    void __tsan_read##bytes(void* p) {                                                                 \
        if (is_observed()) observe_plain<bytes, false>(p, WARPLAB_HERE);                               \
    }                                                                                                  \
    void __tsan_write##bytes(void* p) {                                                                \
        if (is_observed() || bytes == 16) observe_plain<bytes, true>(p, WARPLAB_HERE);                 \
    }                                                                                                  \
    void __tsan_unaligned_read##bytes(void* p) { observe_rare<bytes>(p, plain_read, WARPLAB_HERE); }   \
    void __tsan_unaligned_write##bytes(void* p) { observe_rare<bytes>(p, plain_write, WARPLAB_HERE); } \
    void __tsan_volatile_read##bytes(void* p) { observe_volatile_read<bytes>(p, WARPLAB_HERE); }       \
    void __tsan_volatile_write##bytes(void* p) {                                                       \
        observe_rare<bytes>(p, {.writes = true, .is_volatile = true}, WARPLAB_HERE);                   \
    }

// Kernels run on one OS thread, so no other thread can interfere there.
#define WARPLAB_UPDATE(bits, type, name, operation)                                          \
    type __tsan_atomic##bits##_##name(volatile type* p, type value, int) {                   \
        observe_rare<bits / 8>(p, atomic_update, WARPLAB_HERE);                              \
        if (!warplab_cpu::quick.in_grid) return __atomic_##name(p, value, __ATOMIC_SEQ_CST); \
        const type before = *p;                                                              \
        *p = static_cast<type>(before operation value);                                      \
        return before;                                                                       \
    }
#define WARPLAB_EXCHANGE(bits, type, strength, weak)                                                                \
    int __tsan_atomic##bits##_compare_exchange_##strength(volatile type* p, type* expected, type value, int, int) { \
        observe_exchange<bits / 8>(p, WARPLAB_HERE);                                                                \
        return __atomic_compare_exchange_n(p, expected, value, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    }
#define WARPLAB_ATOMICS(bits, type)                                                                \
    type __tsan_atomic##bits##_load(const volatile type* p, int order) {                           \
        observe_load<bits / 8>(p, order, WARPLAB_HERE);                                            \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type* p, type value, int) {                          \
        observe_rare<bits / 8>(p, {.writes = true, .atomic = true, .stores = true}, WARPLAB_HERE); \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    type __tsan_atomic##bits##_exchange(volatile type* p, type value, int) {                       \
        observe_rare<bits / 8>(p, atomic_update, WARPLAB_HERE);                                    \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                              \
    WARPLAB_UPDATE(bits, type, fetch_add, +)                                                       \
    WARPLAB_UPDATE(bits, type, fetch_sub, -)                                                       \
    WARPLAB_UPDATE(bits, type, fetch_and, &)                                                       \
    WARPLAB_UPDATE(bits, type, fetch_or, |)                                                        \
    WARPLAB_UPDATE(bits, type, fetch_xor, ^)                                                       \
    WARPLAB_EXCHANGE(bits, type, strong, false)                                                    \
    WARPLAB_EXCHANGE(bits, type, weak, true)

#pragma GCC visibility push(default)
extern "C" {
void __tsan_init() {
    if (!warplab_cpu::mode_is_known) warplab::cpu::use_sanitizer(true);
}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** p, void*) { observe_rare<sizeof(void*)>(p, plain_write, WARPLAB_HERE); }
void __tsan_vptr_read(void** p) { observe_rare<sizeof(void*)>(p, plain_read, WARPLAB_HERE); }
WARPLAB_HOOKS(1)
WARPLAB_HOOKS(2)
WARPLAB_HOOKS(4)
WARPLAB_HOOKS(8)
WARPLAB_HOOKS(16)
void __tsan_read_range(void* p, unsigned long bytes) { observe_range(p, bytes, false, WARPLAB_HERE); }
void __tsan_write_range(void* p, unsigned long bytes) { observe_range(p, bytes, true, WARPLAB_HERE); }
WARPLAB_ATOMICS(8, unsigned char)
WARPLAB_ATOMICS(16, unsigned short)
WARPLAB_ATOMICS(32, unsigned)
WARPLAB_ATOMICS(64, unsigned long)
void __sanitizer_cov_trace_pc() {
    if (warplab_cpu::tracing) warplab_cpu::trace_basic_block(WARPLAB_HERE);
}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

void __sanitizer_annotate_contiguous_container(const void* begin, const void* end, const void*, const void* size_end) {
    using namespace warplab_cpu;
    if (the_sanitizer) sanitizer().vector_changed(number(begin), number(end), number(size_end));
}

/// Replacements for memcpy and similar functions: the student's file calls them by these names (warplab_cpu/seen.h).
void* warplab_seen_memcpy(void* to, const void* from, unsigned long bytes) {
    observe_range(from, bytes, false, WARPLAB_HERE);
    observe_range(to, bytes, true, WARPLAB_HERE);
    return std::memcpy(to, from, bytes);
}
void* warplab_seen_memmove(void* to, const void* from, unsigned long bytes) {
    observe_range(from, bytes, false, WARPLAB_HERE);
    observe_range(to, bytes, true, WARPLAB_HERE);
    return std::memmove(to, from, bytes);
}
void* warplab_seen_memset(void* to, int value, unsigned long bytes) {
    observe_range(to, bytes, true, WARPLAB_HERE);
    return std::memset(to, value, bytes);
}
int warplab_seen_memcmp(const void* left, const void* right, unsigned long bytes) {
    observe_range(left, bytes, false, WARPLAB_HERE);
    observe_range(right, bytes, false, WARPLAB_HERE);
    return std::memcmp(left, right, bytes);
}

#define WARPLAB_WRITES_RESULT(type, result, function, parameters, arguments) \
    type warplab_seen_##function parameters {                                \
        observe_range(result, sizeof *result, true, WARPLAB_HERE);           \
        return function arguments;                                           \
    }
WARPLAB_WRITES_RESULT(float, whole, modff, (float x, float* whole), (x, whole))
WARPLAB_WRITES_RESULT(double, whole, modf, (double x, double* whole), (x, whole))
WARPLAB_WRITES_RESULT(float, power, frexpf, (float x, int* power), (x, power))
WARPLAB_WRITES_RESULT(double, power, frexp, (double x, int* power), (x, power))
WARPLAB_WRITES_RESULT(float, bits, remquof, (float x, float y, int* bits), (x, y, bits))
WARPLAB_WRITES_RESULT(double, bits, remquo, (double x, double y, int* bits), (x, y, bits))
#undef WARPLAB_WRITES_RESULT
void warplab_seen_sincosf(float x, float* sine, float* cosine) {
    observe_range(sine, sizeof *sine, true, WARPLAB_HERE);
    observe_range(cosine, sizeof *cosine, true, WARPLAB_HERE);
    sincosf(x, sine, cosine);
}
void warplab_seen_sincos(double x, double* sine, double* cosine) {
    observe_range(sine, sizeof *sine, true, WARPLAB_HERE);
    observe_range(cosine, sizeof *cosine, true, WARPLAB_HERE);
    sincos(x, sine, cosine);
}

// Replacements for functions of the C library: in a submission's object file, the judge renames the calls of these
// functions. Each replacement inspects the bytes that decide the result.
#define WARPLAB_READS(type, function, parameters, arguments, pointer, bytes) \
    type warplab_library_##function parameters {                             \
        type const result = function arguments;                              \
        observe_range(pointer, bytes, false, WARPLAB_HERE);                  \
        return result;                                                       \
    }
#define WARPLAB_READS_BOTH(function, bytes)                                                \
    int warplab_library_##function(const char* left, const char* right, unsigned long n) { \
        const unsigned long compared = bytes;                                              \
        observe_range(left, compared, false, WARPLAB_HERE);                                \
        observe_range(right, compared, false, WARPLAB_HERE);                               \
        return function(left, right, n);                                                   \
    }
WARPLAB_READS(const void*, memchr, (const void* from, int byte, unsigned long n), (from, byte, n), from,
              bytes_up_to(from, result, n))
WARPLAB_READS(unsigned long, strlen, (const char* from), (from), from, result + 1)
WARPLAB_READS(const char*, strchr, (const char* from, int letter), (from, letter), from,
              bytes_up_to(from, result, strlen(from) + 1))
WARPLAB_READS(const char*, strrchr, (const char* from, int letter), (from, letter), from, strlen(from) + 1)
WARPLAB_READS_BOTH(bcmp, n)
WARPLAB_READS_BOTH(strncmp, compared_bytes(left, right, n))
int warplab_library_strcmp(const char* left, const char* right) {
    const unsigned long compared = compared_bytes(left, right, ~0ul);
    observe_range(left, compared, false, WARPLAB_HERE);
    observe_range(right, compared, false, WARPLAB_HERE);
    return strcmp(left, right);
}
char* warplab_library_strcpy(char* to, const char* from) {
    observe_range(from, strlen(from) + 1, false, WARPLAB_HERE);
    observe_range(to, strlen(from) + 1, true, WARPLAB_HERE);
    return strcpy(to, from);
}
char* warplab_library_strncpy(char* to, const char* from, unsigned long n) {
    observe_range(from, std::min(strnlen(from, n) + 1, n), false, WARPLAB_HERE);
    observe_range(to, n, true, WARPLAB_HERE);
    return strncpy(to, from, n);
}
int warplab_library_printf(const char* format, ...) {
    va_list values;
    va_start(values, format);
    observe_printed(format, values, WARPLAB_HERE);
    va_end(values);
    va_start(values, format);
    const int printed = vprintf(format, values);
    va_end(values);
    return printed;
}
int warplab_library_vprintf(const char* format, va_list values) {
    va_list copy;
    va_copy(copy, values);
    observe_printed(format, copy, WARPLAB_HERE);
    va_end(copy);
    return vprintf(format, values);
}
int warplab_library_puts(const char* text) {
    observe_range(text, strlen(text) + 1, false, WARPLAB_HERE);
    return puts(text);
}
#undef WARPLAB_READS
#undef WARPLAB_READS_BOTH

/// The data that GCC passes to a handler of -fsanitize=bounds.
struct IndexBeyond {
    const char* file;
    std::uint32_t line, column;  // the position of the closing bracket
    const struct {
        std::uint16_t kind, info;
        char name[1];  // 'int [32]'
    } * array;
};

/// The handler of -fsanitize=bounds for an index that exceeds one dimension of an array.
void __ubsan_handle_out_of_bounds(const IndexBeyond* what, std::int64_t index) {
    if (warplab_cpu::quick.kernel_thread == &warplab_cpu::block_state)
        sanitizer().report_index_beyond(index, what->array->name, what->column,
                                        warplab_cpu::caller_place(WARPLAB_HERE));
}
}
#pragma GCC visibility pop
