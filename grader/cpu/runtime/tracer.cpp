#include "grader/cpu/runtime/tracer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "grader/cpu/include/warplab_cpu/scheduler.h"
#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/memory.h"
#include "grader/cpu/runtime/observer.h"
#include "grader/cpu/runtime/requests.h"
#include "grader/cpu/runtime/scheduler.h"

namespace warplab_cpu {
namespace {

namespace trace = warplab::trace;
using namespace warplab::trace;

constexpr unsigned lanes_per_warp = lanes_in_request;
constexpr std::size_t page_bytes = 4096;
constexpr std::uint64_t max_block_events = 4 << 20, max_launch_events = 24 << 20;
constexpr unsigned threads_of_a_sample = 3 * 2048;  // three waves of blocks on one multiprocessor
constexpr unsigned max_sampled = 96, min_sampled = 2;
constexpr std::uint64_t no_block = ~0ull;
constexpr unsigned steps_of_an_access = 4;  // a basic block is one step

std::uintptr_t number(const volatile void* address) { return reinterpret_cast<std::uintptr_t>(address); }

enum class Space : std::uint8_t { device, shared, constant };

struct Event {
    std::uint64_t address;  // an address in the trace; an offset for shared memory
    std::uint32_t place;
    OperationKind kind;
    std::uint8_t bytes;
};

/// A range of memory that has addresses in the trace.
struct Piece {
    std::uintptr_t begin, end;
    std::uint64_t traced;  // its beginning, as an address in the trace
    Space space;
};

/// Appends records to the judge's memory file, and renews its seal.
class Writer {
  public:
    Writer(int file, const warplab::protocol::Key& key) : hash_(key) {
        void* memory = mmap(nullptr, max_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED) begin_ = static_cast<char*>(memory);
        close(file);
    }
    template <class Record>
    void put(RecordKind kind, const Record& record, const std::vector<std::uint32_t>& more = {}) {
        const std::size_t bytes = sizeof record + more.size() * sizeof more[0];
        if (!has_room_for(bytes)) return;
        const Header header{kind, static_cast<std::uint32_t>(bytes)};
        add(&header, sizeof header);
        add(&record, sizeof record);
        add(more.data(), more.size() * sizeof more[0]);
        const Seal seal = seal_of(hash_, written_);
        std::memcpy(begin_, &seal, sizeof seal);
    }
    bool has_room_for(std::size_t bytes) {
        const bool has = begin_ && sizeof(Seal) + written_ + 2 * sizeof(Header) + bytes <= max_bytes;
        full_ = full_ || !has;
        return has;
    }
    bool full() const { return full_; }

  private:
    void add(const void* bytes, std::size_t count) {
        std::memcpy(begin_ + sizeof(Seal) + written_, bytes, count);
        add_to_hash(hash_, bytes, count);
        written_ += count;
    }
    char* begin_ = nullptr;
    std::size_t written_ = 0;  // bytes of records
    warplab::protocol::SipHash hash_;
    bool full_ = false;
};

/// The lanes of a warp that do the same operation.
struct Request {
    LaneAddresses lanes;
    OperationKind kind = OperationKind::basic_block;
};

void add_lane_words(const Request& request, std::vector<std::uint32_t>& words) {
    for (const std::uintptr_t address : addresses_of(request.lanes))
        words.push_back(static_cast<std::uint32_t>(address / bank_word_bytes));
}

void add_sectors(const Request& request, std::vector<std::uint32_t>& words) {
    AddressList sectors = sectors_of(request.lanes);
    for (const std::uintptr_t sector : sectors) words.push_back(static_cast<std::uint32_t>(sector));
    if (request.kind != OperationKind::device_atomic) return;
    for (const std::uintptr_t sector : sectors) {
        AddressList inside;
        for (const std::uintptr_t address : addresses_of(request.lanes))
            if (address / sector_bytes == sector) inside.add(address);
        words.push_back(static_cast<std::uint32_t>(count_most_frequent(inside) << 16 | inside.count()));
    }
    add_lane_words(request, words);
}

/// Return the words that follow an operation in the trace.
std::vector<std::uint32_t> words_of(const Request& request) {
    using enum OperationKind;
    std::vector<std::uint32_t> words;
    switch (request.kind) {
        case device_read:
        case device_write:
            add_sectors(request, words);
            words.push_back(static_cast<std::uint32_t>(count_bank_passes(request.lanes)));
            break;
        case device_atomic:
            add_sectors(request, words);
            break;
        case shared_read:
        case shared_write:
            words.push_back(static_cast<std::uint32_t>(count_bank_passes(request.lanes)));
            break;
        case shared_atomic:
            words.push_back(static_cast<std::uint32_t>(count_bank_passes(request.lanes)));
            words.push_back(static_cast<std::uint32_t>(count_most_frequent(addresses_of(request.lanes))));
            add_lane_words(request, words);
            break;
        case constant_read:
            words.push_back(static_cast<std::uint32_t>(addresses_of(request.lanes).remove_duplicates().count()));
            break;
        case basic_block:
        case barrier:
        case warp_function:
        case fence:
            break;
    }
    return words;
}

class Tracer final : public Observer {
  public:
    Tracer(const Order& order, int file) : order_(order), random_(order.seed), writer_(file, order.key) {}

    void memory_begins(void* begin, std::size_t bytes, void*, std::size_t, const AllocatedBy&) override {
        host_call({.kind = HostCallKind::allocate});
        add_memory(number(begin), bytes, MemoryRole::allocation);
    }
    void memory_ends(void* begin) override {
        host_call({.kind = HostCallKind::free});
        remove(number(begin));
    }
    bool memory_written(void* begin, std::size_t bytes) override {
        if (find(number(begin))) move_.written_bytes += bytes;
        return true;
    }
    void memory_read(const void* begin, std::size_t bytes) override {
        if (find(number(begin))) move_.read_bytes += bytes;
    }
    void memory_unmapped(void* begin, std::size_t) override { remove(number(begin)); }
    void buffer(std::uintptr_t begin, std::size_t bytes) {
        remove(begin);
        add_memory(begin, bytes, MemoryRole::lab_buffer);
    }

    void shared_begins(void* begin, const SharedDeclaration& variable) override {
        const std::uint64_t offset = dynamic_bytes_ + static_bytes_;
        static_bytes_ += (variable.bytes + 127) / 128 * 128;
        counted_static_bytes_ += variable.bytes;
        shared_.push_back({number(begin), number(begin) + variable.bytes, offset, Space::shared});
    }

    void call_begins() override {
        skips_ = calls_++ < order_.calls_before;
        in_call_ = !skips_;
    }
    void call_ends() override { in_call_ = skips_ = false; }
    void grid_begins(const Grid& grid) override;
    void grid_ends() override;
    std::uint64_t next_turn(std::uint64_t block) override;
    void block_begins(std::uint64_t block) override;
    void block_ends() override;

    void add(std::uint64_t address, std::uint32_t place, OperationKind kind, std::uint8_t bytes) {
        std::vector<Event>& log = logs_[linear_thread()];
        ++events_;
        if (log.size() < max_thread_events_) log.push_back({address, place, kind, bytes});
    }
    bool records() const { return recording_; }
    void count_steps(unsigned count) { steps_ += count; }
    /// Count an atomic. Return true for every second one: then other threads must run.
    bool count_atomic() {
        constexpr unsigned atomics_in_a_row = 2;
        return ++atomics_ % atomics_in_a_row == 0;
    }
    const Piece* find(std::uintptr_t address);
    const Order& order() const { return order_; }
    void host_call(const HostCall& call) {
        if (in_call_ && !in_grid_) writer_.put(RecordKind::host_call, call);
    }
    void begin_move(const char* function) {
        add_variables();
        move_ = {.kind = std::strstr(function, "Memset") ? HostCallKind::fill : HostCallKind::copy};
    }
    void end_move(bool host_waits) {
        move_.host_waits = host_waits;
        host_call(move_);
    }

  private:
    void add_memory(std::uintptr_t begin, std::size_t bytes, MemoryRole role) {
        const Space space = role == MemoryRole::constant ? Space::constant : Space::device;
        pieces_.push_back({begin, begin + bytes, next_, space});
        writer_.put(RecordKind::memory, Memory{next_, bytes, role});
        next_ += (bytes + 2 * page_bytes - 1) / page_bytes * page_bytes;
        sort();
    }
    void remove(std::uintptr_t begin) {
        std::erase_if(pieces_, [&](const Piece& piece) { return piece.begin == begin; });
        recent_ = nullptr;
    }
    void sort() {
        std::ranges::sort(pieces_, {}, &Piece::begin);
        recent_ = nullptr;
    }
    void add_variables() {
        if (variables_known_ == device_variable_count()) return;
        variables_known_ = device_variable_count();
        for (const auto& [begin, variable] : device_variables()) {
            remove(begin);
            add_memory(begin, variable.bytes, variable.constant ? MemoryRole::constant : MemoryRole::variable);
        }
    }
    void choose_blocks(std::uint64_t blocks, unsigned threads);
    void choose_others(std::uint64_t blocks);
    std::uint64_t next_sampled(std::uint64_t block) const;
    void write_warp(unsigned first);

    Order order_;
    std::mt19937 random_;
    Writer writer_;
    std::vector<Piece> pieces_, shared_;
    const Piece* recent_ = nullptr;
    std::uint64_t next_ = page_bytes;
    std::size_t variables_known_ = 0;
    HostCall move_{};

    using Shape = std::tuple<std::string, std::array<unsigned, 6>, std::size_t>;
    std::set<Shape> shapes_;
    std::uint64_t calls_ = 0, repeated_ = 0;
    bool skips_ = false;  // the blocks of this call do not run
    bool in_call_ = false, in_grid_ = false, recording_ = false, repeats_ = false;
    unsigned threads_ = 0;  // of a block
    std::uint64_t dynamic_bytes_ = 0, static_bytes_ = 0, counted_static_bytes_ = 0, max_static_bytes_ = 0;
    std::uint64_t first_sampled_ = 0, step_ = 1, sample_size_ = 0, sampled_ = 0;
    std::set<std::uint64_t> others_;  // blocks that run to be compared with the sampled ones
    std::uint64_t steps_ = 0;         // of the running block
    LaunchEnds ends_{};
    unsigned atomics_ = 0;
    std::uint64_t events_ = 0, max_thread_events_ = 0, recorded_ = 0;
    std::array<std::vector<Event>, 1024> logs_;
};

Tracer* the_tracer = nullptr;

const Piece* Tracer::find(std::uintptr_t address) {
    for (const Piece& piece : shared_)
        if (address >= piece.begin && address < piece.end) return &piece;
    if (recent_ && address >= recent_->begin && address < recent_->end) return recent_;
    auto after = std::ranges::upper_bound(pieces_, address, {}, &Piece::begin);
    if (after == pieces_.begin() || address >= (--after)->end) return nullptr;
    return recent_ = &*after;
}

/// Draw blocks that represent those of one multiprocessor: the first is random, and the distance between them is at
/// most the number of multiprocessors plus 1. If it were the number itself, a program that distributes its work by the
/// block's index modulo 2, 4 or 12 would give all of these blocks the same share.
void Tracer::choose_blocks(std::uint64_t blocks, unsigned threads) {
    sample_size_ = std::clamp((threads_of_a_sample + threads - 1) / threads, min_sampled, max_sampled);
    if (sample_size_ > 4) sample_size_ = (sample_size_ + 3) / 4 * 4;  // as many blocks of each share in four
    sample_size_ = std::min(sample_size_, blocks);
    step_ = std::clamp<std::uint64_t>(blocks / sample_size_, 1, order_.multiprocessors + 1);
    const std::uint64_t max_first = blocks - (sample_size_ - 1) * step_;
    first_sampled_ = std::uniform_int_distribution<std::uint64_t>(0, max_first - 1)(random_);
    sampled_ = 0;
}

/// Draw the blocks whose steps are only counted, including the first and the last block, which may differ from the
/// rest. The random blocks are groups of four neighbours, because programs distribute work by the block's index modulo
/// 2 or 4. Repeated launches count fewer blocks; after `max_thorough` of them, only one, because an iterative solver
/// makes thousands of launches.
void Tracer::choose_others(std::uint64_t blocks) {
    constexpr unsigned max_thorough = 64;  // repeated launches in which the steps of several blocks are counted
    others_.clear();
    std::uniform_int_distribution<std::uint64_t> any(0, blocks - 1);
    others_.insert(any(random_));
    if (repeats_ && ++repeated_ > max_thorough) return;
    others_.insert({0, blocks - 1});
    const unsigned groups = repeats_ ? 1 : 8, neighbours = repeats_ ? 1 : 4;
    for (unsigned i = 0; i < groups; ++i) {
        const std::uint64_t first = any(random_);
        for (unsigned k = 0; k < neighbours; ++k) others_.insert((first + k) % blocks);
    }
}

void Tracer::grid_begins(const Grid& grid) {
    add_variables();
    threads_ = grid.threads.x * grid.threads.y * grid.threads.z;
    const Shape shape{grid.kernel,
                      {grid.blocks.x, grid.blocks.y, grid.blocks.z, grid.threads.x, grid.threads.y, grid.threads.z},
                      grid.shared_bytes};
    in_grid_ = true;
    if (!in_call_) return;
    repeats_ = !shapes_.insert(shape).second || writer_.full();
    trace::Launch launch{};
    std::strncpy(launch.kernel, grid.kernel, sizeof launch.kernel - 1);
    const unsigned sizes[] = {grid.blocks.x,  grid.blocks.y,  grid.blocks.z,
                              grid.threads.x, grid.threads.y, grid.threads.z};
    std::copy(sizes, sizes + 3, launch.grid);
    std::copy(sizes + 3, sizes + 6, launch.block);
    launch.dynamic_shared_bytes = static_cast<std::uint32_t>(grid.shared_bytes);
    launch.repeats = repeats_;
    writer_.put(RecordKind::launch, launch);
    dynamic_bytes_ = (grid.shared_bytes + 127) / 128 * 128;
    max_static_bytes_ = recorded_ = 0;
    max_thread_events_ = max_block_events / threads_;
    const std::uint64_t blocks = std::uint64_t{grid.blocks.x} * grid.blocks.y * grid.blocks.z;
    choose_blocks(blocks, threads_);
    choose_others(blocks);
    ends_ = {};
}

void Tracer::grid_ends() {
    in_grid_ = recording_ = false;
    ends_.static_shared_bytes = static_cast<std::uint32_t>(max_static_bytes_);
    if (in_call_) writer_.put(RecordKind::launch_ends, ends_);
}

/// Return this block if it is sampled; otherwise, the next sampled block, or no_block.
std::uint64_t Tracer::next_sampled(std::uint64_t block) const {
    const bool has_room = sampled_ < min_sampled || (recorded_ <= max_launch_events && !writer_.full());
    if (repeats_ || sampled_ == sample_size_ || !has_room) return no_block;
    if (block <= first_sampled_) return first_sampled_;
    return first_sampled_ + (block - first_sampled_ + step_ - 1) / step_ * step_;
}

std::uint64_t Tracer::next_turn(std::uint64_t block) {
    if (!in_call_) return skips_ ? no_block : block;
    const auto other = others_.lower_bound(block);
    return std::min(next_sampled(block), other == others_.end() ? no_block : *other);
}

void Tracer::block_begins(std::uint64_t block) {
    if (!in_call_) return;
    steps_ = 0;
    if (block != next_sampled(block)) return;
    ++sampled_;
    static_bytes_ = counted_static_bytes_ = 0;
    const std::uintptr_t dynamic = number(&dynamic_shared_memory);
    shared_.clear();
    if (dynamic_bytes_) shared_.push_back({dynamic, dynamic + dynamic_bytes_, 0, Space::shared});
    events_ = 0;
    recording_ = true;
}

void Tracer::block_ends() {
    if (!in_call_) return;
    if (!recording_) {
        ++ends_.other_blocks;
        ends_.other_steps += steps_;
        ends_.max_steps = std::max(ends_.max_steps, steps_);
        return;
    }
    ++ends_.recorded_blocks;
    ends_.recorded_steps += steps_;
    recording_ = false;
    std::uint64_t recorded = 0;
    for (unsigned i = 0; i < threads_; ++i) recorded += logs_[i].size();
    recorded_ += recorded;
    max_static_bytes_ = std::max(max_static_bytes_, counted_static_bytes_);
    writer_.put(RecordKind::block, trace::Block{events_, recorded});
    for (unsigned first = 0; first < threads_; first += lanes_per_warp) write_warp(first);
}

/// Merge the events of a warp's lanes into operations: of the lanes that continue, those at the lowest address in the
/// code run first. Lanes of different branches meet again where the branches join, because the compiler places the
/// joined code after the branches.
void Tracer::write_warp(unsigned first) {
    struct Lane {
        const Event *at, *end;
        unsigned number;
    };
    std::vector<Lane> lanes;
    for (unsigned i = first; i < std::min(first + lanes_per_warp, threads_); ++i)
        if (!logs_[i].empty()) lanes.push_back({logs_[i].data(), logs_[i].data() + logs_[i].size(), i - first});
    trace::Warp warp{};
    std::vector<std::uint32_t> packed;
    while (!lanes.empty()) {
        std::uint32_t place = ~0u;
        for (const Lane& lane : lanes) place = std::min(place, lane.at->place);
        Request request;
        for (Lane& lane : lanes) {
            if (lane.at->place != place || (request.lanes.lanes && lane.at->kind != request.kind)) continue;
            request.kind = lane.at->kind;
            request.lanes.width = std::max<unsigned>(1, lane.at->bytes);
            request.lanes.add(lane.number, lane.at++->address);
        }
        std::erase_if(lanes, [](const Lane& lane) { return lane.at == lane.end; });
        const std::vector<std::uint32_t> words = words_of(request);
        const Operation operation{place, request.kind, static_cast<std::uint32_t>(std::popcount(request.lanes.lanes)),
                                  static_cast<std::uint32_t>(words.size()), request.lanes.width};
        std::uint32_t raw[2];
        static_assert(sizeof raw == sizeof operation);
        std::memcpy(raw, &operation, sizeof raw);
        packed.insert(packed.end(), raw, raw + 2);
        packed.insert(packed.end(), words.begin(), words.end());
        ++warp.operations;
    }
    for (unsigned i = first; i < std::min(first + lanes_per_warp, threads_); ++i) logs_[i].clear();
    writer_.put(RecordKind::warp, warp, packed);
}

std::uint32_t place_of(void* caller) {
    static const std::uintptr_t executable = executable_begin();
    return static_cast<std::uint32_t>(number(caller) - executable);
}

OperationKind kind_of(Space space, TracedAccess access) {
    using enum OperationKind;
    if (space == Space::constant) return constant_read;
    if (space == Space::shared)
        return access == TracedAccess::read    ? shared_read
               : access == TracedAccess::write ? shared_write
                                               : shared_atomic;
    return access == TracedAccess::read ? device_read : access == TracedAccess::write ? device_write : device_atomic;
}

}  // namespace

void trace_access(const volatile void* address, std::size_t bytes, TracedAccess access, void* caller) {
    if (!the_tracer) return;
    the_tracer->count_steps(steps_of_an_access);
    if (!the_tracer->records()) return;
    const Piece* const piece = the_tracer->find(number(address));
    if (!piece) return;
    the_tracer->add(number(address) - piece->begin + piece->traced, place_of(caller), kind_of(piece->space, access),
                    static_cast<std::uint8_t>(bytes));
    // Otherwise, the first threads would change all shared data before the others begin.
    if (access == TracedAccess::atomic && the_tracer->count_atomic()) let_others_run();
}

void trace_basic_block(void* caller) {
    if (the_tracer) the_tracer->count_steps(1);
    trace_operation(OperationKind::basic_block, caller);
}

void trace_operation(OperationKind kind, void* caller) {
    if (the_tracer && the_tracer->records()) the_tracer->add(0, place_of(caller), kind, 0);
}

void trace_host_call(HostCallKind kind) {
    if (the_tracer) the_tracer->host_call({.kind = kind});
}
void begin_traced_move(const char* function) {
    if (the_tracer) the_tracer->begin_move(function);
}
void end_traced_move(bool host_waits) {
    if (the_tracer) the_tracer->end_move(host_waits);
}

void trace_buffer(const void* begin, std::size_t bytes) {
    if (the_tracer) the_tracer->buffer(number(begin), bytes);
}

void begin_trace(const Order& order, int file) {
    if (!order.multiprocessors) return;
    observer = the_tracer = new Tracer(order, file);
    tracing = true;
}

const Order& traced_device() {
    static const Order none{};
    return the_tracer ? the_tracer->order() : none;
}

}  // namespace warplab_cpu
