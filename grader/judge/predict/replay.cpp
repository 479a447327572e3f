#include "grader/judge/predict/replay.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <unordered_set>
#include <utility>

#include "grader/judge/predict/effort.h"
#include "grader/judge/predict/footprint.h"

namespace warplab::predict {
namespace {

using trace::OperationKind;

// CUDA C++ Programming Guide, throughput of native arithmetic instructions: 16 results in a clock of a multiprocessor.
constexpr double special_clocks = 8;
constexpr int lanes_per_warp = 32, schedulers = 4, registers_at_a_time = 8;
constexpr double bank_bytes = 128;              // one pass serves one word of each bank
constexpr double reserved_shared_bytes = 1024;  // reserved per block
constexpr double max_operations = 400'000;      // to replay
constexpr double max_waves = 10;
constexpr double min_l1_bytes = 28e3;
constexpr double max_queued_clocks = 60, max_queued_l2_clocks = 1500, max_queued_dram_clocks = 3000;
constexpr double max_queued_atomic_clocks = 2000;
constexpr double retry_clocks = 30, retry_instructions = 10;  // to repeat a compare-and-swap
constexpr int loads_at_once = 4;                              // in a loop that nvcc unrolls
constexpr std::size_t kept_results = 4, max_pending = 16;

std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}
/// Return a number from 0 to 1 that depends only on the seed.
double fraction(std::uint64_t seed) { return static_cast<double>(mix(seed) >> 11) * 0x1p-53; }

/// The L1 of a multiprocessor: lines of four sectors, and when each sector arrives.
class L1 {
  public:
    explicit L1(double bytes)
        : ways_(std::max<std::size_t>(1, static_cast<std::size_t>(bytes / 128 / sets))), lines_(sets * ways_) {}

    /// Return when the sector arrives. If it is not in the L1, return a negative number and make room for the sector;
    /// the caller must then report the time of its arrival with arrives().
    double find(std::uint64_t sector) {
        Line& line = line_of(sector / 4, true);
        const std::size_t part = sector % 4;
        if (line.present >> part & 1) return line.ready[part];
        line.present |= 1u << part;
        line.ready[part] = 1e18;
        return -1;
    }
    void arrives(std::uint64_t sector, double when) { line_of(sector / 4, false).ready[sector % 4] = when; }

  private:
    static constexpr std::size_t sets = 32;
    struct Line {
        std::uint64_t tag = ~0ull;
        unsigned present = 0;
        std::uint32_t used = 0;
        std::array<double, 4> ready = {};
    };
    Line& line_of(std::uint64_t tag, bool touch) {
        Line* const first = &lines_[(tag ^ tag >> 5 ^ tag >> 10) % sets * ways_];
        Line* oldest = first;
        for (std::size_t way = 0; way < ways_; ++way) {
            if (first[way].tag == tag) {
                if (touch) first[way].used = ++clock_;
                return first[way];
            }
            if (first[way].used < oldest->used) oldest = &first[way];
        }
        *oldest = {tag, 0, ++clock_, {}};
        return *oldest;
    }
    std::size_t ways_;
    std::vector<Line> lines_;
    std::uint32_t clock_ = 0;
};

/// Return the minimum number of parts of this size that contain all accessed bytes.
double min_parts(const TracedOperation& operation, double part_bytes) {
    return std::max(1.0, std::ceil(operation.lanes * operation.lane_bytes / part_bytes));
}

/// A resource that serves one operation at a time.
struct Server {
    double free = 0;
    /// Serve an operation that arrives at `when` and takes `clocks`. Return when it begins.
    double serve(double when, double clocks) {
        const double begin = std::max(when, free);
        free = begin + clocks;
        return begin;
    }
};

/// The share of the memory's bandwidth that reads and writes have used lately.
class MemoryLoad {
  public:
    void add(double when, double clocks, bool writes) {
        decay(when);
        (writes ? writes_ : reads_) += clocks / window;
    }
    /// Return the additional latency of a read that begins at `when`, in clocks.
    double additional_latency(const Machine& machine, double when) {
        decay(when);
        const double share = reads_ + writes_;
        if (share <= 0) return 0;
        const double of_copies = std::min(1.0, 2 * writes_ / share);
        return (1 - of_copies) * at(machine.dram_reads, share) + of_copies * at(machine.dram_copies, share);
    }

  private:
    static constexpr double window = 2000;  // clocks
    void decay(double when) {
        if (when <= last_) return;
        const double left = std::exp((last_ - when) / window);
        reads_ *= left;
        writes_ *= left;
        last_ = when;
    }
    static double at(const std::vector<DramLoad>& loads, double share) {
        DramLoad before;
        for (const DramLoad& load : loads) {
            if (share < load.share)
                return before.clocks +
                       (load.clocks - before.clocks) * (share - before.share) / (load.share - before.share);
            before = load;
        }
        return before.clocks;
    }
    double reads_ = 0, writes_ = 0, last_ = 0;
};

struct WarpState {
    const std::vector<TracedOperation>* operations = nullptr;
    std::size_t next = 0;
    int scheduler = 0, block = 0;
    std::uint64_t copy = 0;  // the number of this replay of the trace
    double stores_ready = 0;
    std::array<double, loads_at_once> loads_of_stores = {};  // when the results that the last stores need arrive
    std::size_t stores = 0;
    // By place, see gather():
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> waiting_sectors;
    std::unordered_map<std::uint32_t, std::unordered_set<std::uint32_t>> touched;
    double vector_ready = 0;                       // when the result of the last access arrives
    std::array<double, max_pending> pending = {};  // when the last results arrive; a read waits for the oldest
    std::size_t reads = 0;
    const Instruction* block_before = nullptr;  // the basic block whose branch comes next
    std::vector<std::uint32_t> lanes_left;      // words that a compare-and-swap has not changed yet
    double words_read = 0;                      // when the lanes read them
    double attempts = 1;                        // attempts of its last compare-and-swap
    // Lanes that needed more attempts of a compare-and-swap than others run alone for one iteration of the loop.
    double parts = 1, new_parts = 1;
    double last_read = 1e18;  // the time at which the last value that it read arrived
    double since = 0;         // when its next operation became ready
    int line = 0;             // the line of its last operation
    std::unordered_map<std::uint32_t, std::array<double, kept_results>> results;
    struct Turns {
        int count = 0;
        bool whole = false;  // whether the current group of iterations is complete
    };
    std::unordered_map<std::uint32_t, Turns> turns;  // iterations of operations in loops that nvcc unrolls
};

struct BlockState {
    int left = 0, alive = 0, arrived = 0;  // warps: not ended, expected at the next barrier, arrived at it
    double last_arrival = 0;
    std::vector<int> waiting;
    std::unordered_set<std::uint32_t> touched;
};

/// Return for how many replays a sampled block stands. If only its beginning was recorded, that is one of several
/// pieces.
double pieces_of(const TracedBlock& block) {
    const bool is_whole = block.recorded == 0 || block.events <= block.recorded;
    return block.weight * (is_whole ? 1 : static_cast<double>(block.events) / static_cast<double>(block.recorded));
}

class Multiprocessor {
  public:
    Multiprocessor(const Machine& machine, const Trace& trace, const TracedLaunch& launch, const Code& code,
                   int registers, const Residency& residency, const Change* change);
    KernelTime run();
    const std::vector<Footprint>& footprints() const { return footprints_; }

  private:
    int count_blocks_at_once(int registers) const;
    void choose_length();
    std::size_t choose_sample();
    void start_block(double when);
    void finish_warp(int number, double when);
    void release_barrier(BlockState& block);
    void step(double when, int number);
    void continue_warp(WarpState& warp, int number, double when, int line);
    void find_ordered_loops();
    void count_readers();
    bool is_unrolled(const Instruction& instruction) const {
        return instruction.loop && !ordered_loops_.contains(instruction.loop);
    }
    bool has_turns_left(const WarpState& warp, const TracedOperation& operation, const Instruction& instruction,
                        int turns) const;
    bool waits_later(WarpState& warp, const TracedOperation& operation, const Instruction& instruction) const;
    bool starts_iterations(const WarpState& warp, const TracedOperation& operation,
                           const Instruction& instruction) const;
    double ready_at(WarpState& warp, const TracedOperation& operation, const Instruction& instruction,
                    double when) const;
    double wait_for(const WarpState& warp, const std::vector<Need>& needs, double when) const;
    static void keep_result(WarpState& warp, std::uint32_t place, double when);
    double issue(const WarpState& warp, double when, double count, int line);
    void add_busy(Resource resource, double clocks, int line) {
        time_.busy[static_cast<std::size_t>(resource)] += clocks;
        time_.busy_of_line[line][static_cast<std::size_t>(resource)] += clocks;
    }
    /// Count a warp's time since its last operation for a line. A wait counts for the line that needs the result.
    void charge_time(WarpState& warp, double until, int line) {
        time_.clocks_of_line[line] += until - warp.since;
        warp.since = until;
        warp.line = line;
    }
    /// Return whether the change removes this waste; otherwise, count the waste.
    bool avoids(Waste waste, int line, double clocks) {
        if (change_ && *change_ == Change{waste, line}) return true;
        if (clocks > 0) time_.wasted[{waste, line}] += clocks;
        return false;
    }
    static bool skips_body(const WarpState& warp, const PredicatedBody& body);
    double do_basic_block(WarpState& warp, const Instruction& instruction, double when);
    double do_shared(WarpState& warp, const TracedOperation& operation, const Instruction& instruction, double when);
    double do_device(WarpState& warp, const TracedOperation& operation, const Instruction& instruction, double when);
    double access_sectors(WarpState& warp, const TracedOperation& operation, const Instruction& instruction,
                          double when, double& done);
    std::vector<std::uint32_t> gather(WarpState& warp, const TracedOperation& operation);
    double serve_sector(WarpState& warp, const TracedOperation& operation, const Instruction& instruction,
                        std::uint32_t sector, bool paired, double clocks, std::uint32_t same, int memory, double when,
                        double& now);
    double compare_and_swap(WarpState& warp, const TracedOperation& operation, const Instruction& instruction,
                            double when);
    void change_words(WarpState& warp, const TracedOperation& operation, double when);
    double extrapolate(double end) const;

    const Machine& machine_;
    const Trace& trace_;
    const TracedLaunch& launch_;
    const Code& code_;
    const Residency& residency_;
    const Change* const change_;
    std::vector<Footprint> footprints_;
    std::vector<double> held_;  // the share of a footprint that the L2 holds before the launch
    int warps_per_block_, blocks_at_once_;
    double active_, blocks_in_all_;                       // multiprocessors with work; blocks of this one
    double dram_clocks_, dram_write_clocks_, l2_clocks_;  // clocks per sector
    double dram_share_clocks_;                            // clocks per sector, if the sectors of all were read evenly
    MemoryLoad memory_load_;
    double l2_hits_ = 1;  // the hit rate of sectors that are used again
    int replayed_ = 0;    // blocks

    L1 l1_;
    std::unordered_set<std::uint64_t> by_atomics_;  // sectors that atomics changed
    std::array<Server, schedulers> issue_, floating_64_, special_;
    Server block_starts_, access_, l2_, dram_;                                      // access: of all loads and stores
    std::unordered_map<std::uint64_t, double> slice_free_, answered_, unanswered_;  // by slice of the L2
    std::unordered_map<std::uint32_t, double> readers_;  // by sector: multiprocessors that read it without the L1
    std::vector<BlockState> blocks_;
    std::vector<WarpState> warps_;
    struct Changes {
        double count = 0, first = 0, last = 0;  // the number of changes, and the times of the first and the last
    };
    std::unordered_map<std::uint64_t, Changes> changes_;  // changes of words by compare-and-swap
    std::vector<double> starts_;
    std::unordered_set<int> ordered_loops_;  // loops whose accesses nvcc must keep in order
    using Event = std::pair<double, int>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
    int next_block_ = 0, at_start_ = 0;  // at_start_: blocks that start first, at once
    double pieces_ = 0;                  // of all sampled blocks
    std::vector<double> due_;            // for each sampled block, how many starts it lacks
    std::vector<std::uint64_t> copies_;  // and how often it started
    std::uint64_t served_ = 0;
    KernelTime time_;
};

Multiprocessor::Multiprocessor(const Machine& machine, const Trace& trace, const TracedLaunch& launch, const Code& code,
                               int registers, const Residency& residency, const Change* change)
    : machine_(machine),
      trace_(trace),
      launch_(launch),
      code_(code),
      residency_(residency),
      change_(change),
      warps_per_block_((static_cast<int>(launch.threads) + lanes_per_warp - 1) / lanes_per_warp),
      blocks_at_once_(count_blocks_at_once(registers)),
      active_(std::min<double>(static_cast<double>(launch.blocks), machine.multiprocessors)),
      blocks_in_all_(static_cast<double>(launch.blocks) / machine.multiprocessors),
      l1_(std::max(min_l1_bytes,
                   machine.l1_bytes - std::min<double>(blocks_at_once_, std::ceil(blocks_in_all_)) *
                                          (static_cast<double>(launch.shared_bytes) + reserved_shared_bytes))) {
    const double at_once =
        std::min(static_cast<double>(launch.blocks), static_cast<double>(blocks_at_once_) * machine.multiprocessors);
    footprints_ = footprints_of(trace, launch, machine.multiprocessors, at_once);
    for (std::size_t m = 0; m < footprints_.size(); ++m)
        held_.push_back(std::min(1.0, residency.bytes[m] / std::max(1.0, footprints_[m].of_launch * sector_bytes)));
    if (blocks_in_all_ < 4.0 * blocks_at_once_) blocks_in_all_ = std::ceil(blocks_in_all_);
    const double share_of_l2 = machine.l2_bytes_per_s / active_ / machine.clock_hz;
    const double share_of_dram = machine.dram_bytes_per_s / active_ / machine.clock_hz;
    l2_clocks_ = std::max(sector_bytes / machine.l2_bytes_per_clock, sector_bytes / share_of_l2);
    dram_share_clocks_ = sector_bytes / share_of_dram;
    dram_clocks_ = std::max(sector_bytes / machine.l2_bytes_per_clock, dram_share_clocks_);
    dram_write_clocks_ = dram_clocks_ * (2 * machine.dram_bytes_per_s / machine.dram_copy_bytes_per_s - 1);
    double working_set = 0;
    for (const Footprint& footprint : footprints_)
        if (footprint.accesses > 1.5 * footprint.of_block) working_set += footprint.working_set * sector_bytes;
    // Each half of the L2 keeps its own copy of what its multiprocessors read.
    if (working_set > machine.l2_bytes / 2) l2_hits_ = machine.l2_bytes / 2 / working_set;
    time_.blocks_at_once = blocks_at_once_;
    time_.threads_per_block = warps_per_block_ * lanes_per_warp;
    find_ordered_loops();
    count_readers();
    at_start_ = static_cast<int>(std::min<double>(blocks_at_once_, std::ceil(blocks_in_all_)));
    for (const TracedBlock& block : launch_.sampled) pieces_ += pieces_of(block);
    blocks_in_all_ *= pieces_ / static_cast<double>(launch_.sampled.size());
    choose_length();
    due_.resize(launch_.sampled.size());
    copies_.resize(launch_.sampled.size());
}

/// Find the loops whose accesses nvcc must keep in order: a loop may read device memory that its previous iteration
/// wrote, and atomics, barriers and fences always keep their order.
void Multiprocessor::find_ordered_loops() {
    using enum OperationKind;
    for (const TracedBlock& block : launch_.sampled)
        for (const auto& warp : block.warps)
            for (const TracedOperation& operation : warp) {
                const bool ordered = operation.kind == device_write || operation.kind == device_atomic ||
                                     operation.kind == shared_atomic || operation.kind == barrier ||
                                     operation.kind == fence;
                if (!ordered) continue;
                const Instruction* const instruction = code_.at(operation.place);
                if (instruction && instruction->loop) ordered_loops_.insert(instruction->loop);
            }
}

/// Estimate how many multiprocessors read each sector without the L1, from the share of the sampled blocks that read
/// it.
void Multiprocessor::count_readers() {
    std::unordered_map<std::uint32_t, double> blocks;
    for (const TracedBlock& block : launch_.sampled) {
        std::unordered_set<std::uint32_t> read;
        for (const auto& warp : block.warps)
            for (const TracedOperation& operation : warp) {
                if (operation.kind != OperationKind::device_read) continue;
                const Instruction* const instruction = code_.at(operation.place);
                if (instruction && instruction->is_volatile)
                    for (const std::uint32_t sector : operation.sectors()) read.insert(sector);
            }
        for (const std::uint32_t sector : read) ++blocks[sector];
    }
    const double other_blocks = std::max(1.0, static_cast<double>(launch_.sampled.size()) - 1);
    for (const auto& [sector, count] : blocks) readers_[sector] = 1 + (active_ - 1) * (count - 1) / other_blocks;
}

int Multiprocessor::count_blocks_at_once(int registers) const {
    const int per_thread = (registers + registers_at_a_time - 1) / registers_at_a_time * registers_at_a_time;
    const int threads = warps_per_block_ * lanes_per_warp;
    const double by_shared =
        machine_.shared_bytes / (static_cast<double>(launch_.shared_bytes) + reserved_shared_bytes);
    return std::max(1, std::min({machine_.threads / threads, machine_.blocks,
                                 machine_.registers / (threads * per_thread), static_cast<int>(by_shared)}));
}

/// Choose how many blocks to replay: all of this multiprocessor's, or enough for a steady state.
void Multiprocessor::choose_length() {
    double operations = 0;
    for (const TracedBlock& block : launch_.sampled)
        for (const auto& warp : block.warps) operations += static_cast<double>(warp.size());
    operations /= static_cast<double>(launch_.sampled.size());
    const double affordable = std::min(max_waves * blocks_at_once_, max_operations / std::max(1.0, operations));
    const double all = std::max(1.0, std::floor(blocks_in_all_));
    replayed_ = static_cast<int>(
        std::max(std::min(static_cast<double>(launch_.sampled.size()), all), std::min(all, affordable)));
    blocks_.resize(static_cast<std::size_t>(replayed_));
    warps_.resize(static_cast<std::size_t>(replayed_ * warps_per_block_));
}

/// Choose the sampled block that starts next: each in turn, or more often if it has more weight.
std::size_t Multiprocessor::choose_sample() {
    for (std::size_t s = 0; s < due_.size(); ++s) due_[s] += pieces_of(launch_.sampled[s]);
    const auto sample = static_cast<std::size_t>(std::ranges::max_element(due_) - due_.begin());
    due_[sample] -= pieces_;
    ++copies_[sample];
    return sample;
}

void Multiprocessor::start_block(double when) {
    const int number = next_block_++;
    const std::size_t sample = choose_sample();
    const TracedBlock& traced = launch_.sampled[sample];
    BlockState& block = blocks_[static_cast<std::size_t>(number)];
    when = block_starts_.serve(when, machine_.occupies.block) + machine_.occupies.block;
    starts_.push_back(when);
    for (int w = 0; w < warps_per_block_ && w < static_cast<int>(traced.warps.size()); ++w) {
        const int id = number * warps_per_block_ + w;
        WarpState& warp = warps_[static_cast<std::size_t>(id)];
        warp.operations = &traced.warps[static_cast<std::size_t>(w)];
        warp.scheduler = (id + number) % schedulers;
        warp.block = number;
        warp.copy = copies_[sample] - 1;
        warp.since = when + machine_.latency.block_start + w * machine_.latency.warp_start;
        if (warp.operations->empty()) continue;
        ++block.left;
        ++block.alive;
        queue_.push({warp.since, id});
    }
}

void Multiprocessor::release_barrier(BlockState& block) {
    const double open = block.last_arrival + machine_.latency.barrier;
    for (const int other : block.waiting) {
        WarpState& warp = warps_[static_cast<std::size_t>(other)];
        charge_time(warp, open, warp.line);
        warp.parts = warp.new_parts = 1;
        queue_.push({open, other});
    }
    block.waiting.clear();
    block.arrived = 0;
}

void Multiprocessor::finish_warp(int number, double when) {
    WarpState& warp = warps_[static_cast<std::size_t>(number)];
    BlockState& block = blocks_[static_cast<std::size_t>(warp.block)];
    warp.results = {};
    warp.turns = {};
    warp.waiting_sectors = {};
    warp.touched = {};
    --block.alive;
    if (block.arrived && block.arrived == block.alive) {
        block.last_arrival = std::max(block.last_arrival, when);
        release_barrier(block);
    }
    if (--block.left > 0) return;
    block.touched = {};
    if (next_block_ < replayed_) start_block(when);
}

double Multiprocessor::wait_for(const WarpState& warp, const std::vector<Need>& needs, double when) const {
    for (const Need& need : needs)
        if (const auto result = warp.results.find(need.place); result != warp.results.end())
            when = std::max(when, result->second[static_cast<std::size_t>(need.age)]);
    return when;
}

void Multiprocessor::keep_result(WarpState& warp, std::uint32_t place, double when) {
    auto& results = warp.results.try_emplace(place).first->second;
    std::copy_backward(results.begin(), results.end() - 1, results.end());
    results[0] = when;
    warp.vector_ready = when;
    warp.pending[warp.reads++ % max_pending] = when;
}

double Multiprocessor::issue(const WarpState& warp, double when, double count, int line) {
    add_busy(Resource::issue, count / schedulers, line);
    return issue_[static_cast<std::size_t>(warp.scheduler)].serve(when, count);
}

/// Return whether all lanes skip the body after the basic block that comes next.
bool Multiprocessor::skips_body(const WarpState& warp, const PredicatedBody& body) {
    if (body.place == 0) return false;
    const std::vector<TracedOperation>& all = *warp.operations;
    for (std::size_t i = warp.next + 1; i < all.size(); ++i)
        if (all[i].kind == OperationKind::basic_block) return all[i].place != body.place;
    return true;
}

double Multiprocessor::do_basic_block(WarpState& warp, const Instruction& instruction, double when) {
    const Work& work = instruction.work;
    const bool skips = skips_body(warp, instruction.body);
    const double count = (work.issued() + (skips ? instruction.body.issued : 0)) * warp.parts;
    if (count <= 0) return when;
    const double begin = issue(warp, when, count, instruction.line);
    if (skips) {
        access_.serve(begin, instruction.body.accesses);
        add_busy(Resource::shared_memory, instruction.body.accesses, instruction.line);
    }
    if (work.local > 0) {
        access_.serve(begin, work.local * warp.parts);
        add_busy(Resource::shared_memory, work.local * warp.parts, instruction.line);
    }
    const Work& chain = instruction.chain;
    double end =
        begin + std::max(count, (chain.issued() - chain.fp64) * machine_.latency.arithmetic +
                                    chain.fp64 * machine_.latency.fp64 + (work.local > 0 ? machine_.latency.l1 : 0));
    const double double_clocks = work.fp64 * machine_.occupies.fp64 / schedulers;
    if (work.fp64 > 0 && !avoids(Waste::double_precision, instruction.line, double_clocks)) {
        const double clocks = work.fp64 * machine_.occupies.fp64;
        add_busy(Resource::fp64, double_clocks, instruction.line);
        const double served = floating_64_[static_cast<std::size_t>(warp.scheduler)].serve(begin, clocks) + clocks;
        end = std::max(end, served);
    }
    if (work.special > 0) {
        const double clocks = work.special * special_clocks * warp.parts;
        add_busy(Resource::special, clocks / schedulers, instruction.line);
        end = std::max(end, special_[static_cast<std::size_t>(warp.scheduler)].serve(begin, clocks) + clocks);
    }
    return end;
}

/// Change the words of the remaining lanes. A lane remains if its word was changed after its read: by another lane,
/// another warp, or another multiprocessor (which is assumed to change words at the same rate as this one).
void Multiprocessor::change_words(WarpState& warp, const TracedOperation& operation, double when) {
    const bool shared = operation.kind == OperationKind::shared_atomic;
    const int memory = shared ? -1 : memory_of(trace_, operation.words[0]);
    const double other_sharers = memory >= 0 ? footprints_[static_cast<std::size_t>(memory)].sharers - 1 : 0;
    const std::uint64_t space = shared ? static_cast<std::uint64_t>(warp.block + 1) << 40 : warp.copy << 40;
    std::erase_if(warp.lanes_left, [&](std::uint32_t word) {
        Changes& changes = changes_[word | space];
        const double rate =
            changes.count > 3 ? other_sharers * (changes.count - 1) / std::max(1.0, when - changes.first) : 0;
        if (changes.last > warp.words_read) return false;
        if (rate > 0 && fraction(word * 977ull + ++served_ * 131) < 1 - std::exp(-rate * (when - warp.words_read)))
            return false;
        if (changes.count++ == 0) changes.first = when;
        changes.last = when;
        return true;
    });
    warp.words_read = when;
}

/// Do one attempt of a compare-and-swap. Return when the warp can continue, or try again with the remaining lanes.
double Multiprocessor::compare_and_swap(WarpState& warp, const TracedOperation& operation,
                                        const Instruction& instruction, double when) {
    const bool shared = operation.kind == OperationKind::shared_atomic;
    const bool first = warp.lanes_left.empty();
    if (first) {
        warp.attempts = 1;
        const auto words = operation.lane_words();
        warp.lanes_left.assign(words.begin(), words.end());
        const double way_back = (shared ? machine_.latency.shared : machine_.latency.l2) / 2;
        warp.words_read = std::min(when, warp.last_read) - way_back;
    }
    double next = when, done = 0;
    if (shared) {
        std::unordered_map<std::uint32_t, int> lanes_of;
        int same = 1;
        for (const std::uint32_t word : warp.lanes_left) same = std::max(same, ++lanes_of[word]);
        const double share = static_cast<double>(warp.lanes_left.size()) / operation.lanes;
        const double passes = std::max({1.0, operation.words[0] * share, static_cast<double>(same)});
        const double clocks = 2 * machine_.occupies.shared_atomic * passes;
        const double begin = access_.serve(when, clocks);
        add_busy(Resource::atomics, clocks, instruction.line);
        change_words(warp, operation, begin + clocks);
        done = begin + clocks + machine_.latency.shared_atomic;
        next = std::max(when, begin - max_queued_clocks);
    } else {
        if (first) {
            next = access_sectors(warp, operation, instruction, when, done);
        } else {
            const double clocks = static_cast<double>(warp.lanes_left.size()) * machine_.occupies.atomic_result;
            done = l2_.serve(when, clocks) + clocks + machine_.latency.atomic;
            add_busy(Resource::l2, clocks, instruction.line);
        }
        change_words(warp, operation, done - machine_.latency.atomic / 2);
    }
    if (warp.lanes_left.empty()) {
        warp.new_parts += warp.attempts - 1;
        warp.parts = std::max(warp.parts, warp.new_parts);
        keep_result(warp, operation.place, done);
        return next;
    }
    ++warp.attempts;
    time_.wasted[{Waste::contention, instruction.line}] += retry_instructions / schedulers;
    return std::max(next, done + retry_clocks);
}

double Multiprocessor::do_shared(WarpState& warp, const TracedOperation& operation, const Instruction& instruction,
                                 double when) {
    double passes = operation.words[0];
    if (operation.kind == OperationKind::shared_atomic) {
        double same = instruction.aggregates ? 1 : operation.words[1];
        const double extra = machine_.occupies.shared_atomic * (std::max(passes, same) - 1);
        if (avoids(Waste::contention, instruction.line, instruction.compares ? 2 * extra + 1 : extra)) {
            passes = same = 1;
        } else if (instruction.compares) {
            return compare_and_swap(warp, operation, instruction, when);
        }
        double clocks = machine_.occupies.shared_atomic * passes;
        if (instruction.compares)
            clocks *= 2;
        else if (instruction.result_is_used)
            clocks = machine_.occupies.shared_atomic * std::max(passes, same);
        const double begin = access_.serve(when, clocks);
        add_busy(Resource::atomics, clocks, instruction.line);
        keep_result(warp, operation.place, begin + clocks + machine_.latency.shared_atomic);
        return std::max(when, begin - max_queued_clocks);
    }
    const double min_passes = min_parts(operation, bank_bytes);
    if (passes > min_passes && avoids(Waste::bank_conflicts, instruction.line, passes - min_passes))
        passes = min_passes;
    const double begin = access_.serve(when, passes);
    add_busy(Resource::shared_memory, passes, instruction.line);
    if (operation.kind == OperationKind::shared_read)
        keep_result(warp, operation.place, warp.last_read = begin + passes + machine_.latency.shared);
    else {
        double& loaded = warp.loads_of_stores[warp.stores++ % loads_at_once];
        loaded = wait_for(warp, instruction.needs, when);
        warp.stores_ready = std::max({warp.stores_ready, loaded, begin + passes}) + machine_.latency.shared_write;
    }
    return std::max(when, begin - max_queued_clocks);
}

/// Serve one sector of an access. Return when it is done; `now` is when the warp can continue.
double Multiprocessor::serve_sector(WarpState& warp, const TracedOperation& operation, const Instruction& instruction,
                                    std::uint32_t sector, bool paired, double clocks_of_sector, std::uint32_t same,
                                    int memory, double when, double& now) {
    const bool reads = operation.kind == OperationKind::device_read;
    const bool atomic = operation.kind == OperationKind::device_atomic;
    const std::uint64_t in_l1 = std::uint64_t{sector} ^ warp.copy << 40;
    const bool in_l2 = instruction.is_volatile, changed = reads && by_atomics_.contains(in_l1);
    if (atomic) by_atomics_.insert(in_l1);
    if (reads && !in_l2) {
        const double arrival = l1_.find(in_l1);
        if (arrival >= 0) return std::max(arrival > 1e17 ? when : arrival, when + machine_.latency.l1);
        access_.serve(when, sector_bytes / bank_bytes);  // to write it to the L1
    }
    const bool answers = instruction.result_is_used || instruction.compares;
    const double of_atomic = answers ? machine_.occupies.atomic_result : machine_.occupies.atomic;
    const double l2_clocks = atomic ? std::max(clocks_of_sector, of_atomic)
                                    : clocks_of_sector + (changed ? machine_.occupies.changed_sector : 0);
    const double begin = l2_.serve(when, l2_clocks);
    add_busy(Resource::l2, l2_clocks, instruction.line);
    double done = begin + l2_clocks + machine_.latency.l2;
    const bool is_new = blocks_[static_cast<std::size_t>(warp.block)].touched.insert(sector).second;
    if (memory >= 0) {
        const auto m = static_cast<std::size_t>(memory);
        const Footprint& footprint = footprints_[m];
        const std::uint64_t seed =
            std::uint64_t{sector} ^ static_cast<std::uint64_t>(residency_.launches) << 40 ^ warp.copy << 52;
        bool from_dram = false;
        if (is_new)
            from_dram = fraction(seed) < footprint.first_touch * (1 - held_[m]);
        else if (l2_hits_ < 1 && footprint.accesses > 1.5 * footprint.of_block)
            from_dram = fraction(seed * 31 + served_) > l2_hits_;
        // The memory transfers pairs of sectors. The other sector of a pair is lost if the L2 is too small to keep it.
        const double transferred = paired ? 1 : std::max(footprint.loaded, 2 - l2_hits_);
        if (from_dram && operation.kind != OperationKind::device_write) {
            const double clocks = transferred * dram_clocks_;
            const double read = dram_.serve(begin, clocks);
            memory_load_.add(begin, transferred * dram_share_clocks_, false);
            add_busy(Resource::memory, clocks, instruction.line);
            const double queued = std::max(read - begin, memory_load_.additional_latency(machine_, begin));
            done = std::max(done, begin + queued + clocks + machine_.latency.dram);
        }
        const bool is_written_back =
            !reads && (is_new ? held_[m] < 0.5 && fraction(seed + 1) < footprint.first_touch : from_dram);
        if (is_written_back) {
            dram_.serve(begin, transferred * dram_write_clocks_);
            memory_load_.add(begin, transferred * dram_share_clocks_, true);
            add_busy(Resource::memory, transferred * dram_write_clocks_, instruction.line);
        }
        const auto slice = static_cast<std::uint64_t>(sector * sector_bytes / machine_.l2_slice_bytes);
        if (reads && in_l2) {
            double& free = slice_free_[slice];
            const double served = std::max(begin, free);
            free = served + machine_.occupies.slice_read * readers_[sector];
            done = std::max(done, served + l2_clocks + machine_.latency.l2);
        }
        if (atomic) {
            const double clocks = machine_.occupies.atomic_lane * std::max(1u, same);
            const double busy = clocks * footprint.sharers;
            if (avoids(Waste::contention, instruction.line, busy))
                return std::max(done, begin + machine_.occupies.atomic_lane + machine_.latency.atomic);
            time_.busy_of_line[instruction.line][static_cast<std::size_t>(Resource::atomics)] += busy;
            if (!answers) {
                unanswered_[slice] += busy;
                return std::max(done, begin + clocks + machine_.latency.atomic);
            }
            answered_[slice] += busy;
            double& free = slice_free_[slice];
            const double served = std::max(begin, free);
            free = served + busy;
            done = std::max(done, served + clocks + machine_.latency.atomic);
            now = std::max(now, served - max_queued_atomic_clocks);
        }
    }
    if (reads && !in_l2) l1_.arrives(in_l1, done);
    return done;
}

/// Return the sectors that an access would use if neighbouring lanes used neighbouring addresses. Sectors that the
/// scattered access loads for later iterations of its loop count for the gathered accesses of these iterations.
std::vector<std::uint32_t> Multiprocessor::gather(WarpState& warp, const TracedOperation& operation) {
    constexpr std::size_t max_waiting = 1024;
    std::vector<std::uint32_t>& waiting_sectors = warp.waiting_sectors[operation.place];
    std::unordered_set<std::uint32_t>& touched = warp.touched[operation.place];
    for (const std::uint32_t sector : operation.sectors())
        if (touched.insert(sector).second && waiting_sectors.size() < max_waiting) waiting_sectors.push_back(sector);
    const auto min_sectors = static_cast<std::size_t>(min_parts(operation, sector_bytes));
    std::vector<std::uint32_t> sectors;
    for (; sectors.size() < min_sectors && !waiting_sectors.empty(); waiting_sectors.pop_back())
        sectors.push_back(waiting_sectors.back());
    const auto used = operation.sectors();
    while (sectors.size() < min_sectors) sectors.push_back(used[sectors.size()]);
    std::ranges::sort(sectors);
    return sectors;
}

double Multiprocessor::do_device(WarpState& warp, const TracedOperation& operation, const Instruction& instruction,
                                 double when) {
    if (instruction.compares && !avoids(Waste::contention, instruction.line, 0))
        return compare_and_swap(warp, operation, instruction, when);
    double done = 0;
    const double next = access_sectors(warp, operation, instruction, when, done);
    if (operation.kind == OperationKind::device_read) {
        warp.last_read = done;
        if (!instruction.is_volatile) warp.parts = std::exchange(warp.new_parts, 1);
    }
    if (operation.kind != OperationKind::device_write) keep_result(warp, operation.place, done);
    return next;
}

/// Serve all sectors of an access; `done` is when the last one is served. Return when the warp can continue.
double Multiprocessor::access_sectors(WarpState& warp, const TracedOperation& operation, const Instruction& instruction,
                                      double when, double& done) {
    const bool atomic = operation.kind == OperationKind::device_atomic;
    const double extra = static_cast<double>(operation.sectors().size()) - min_parts(operation, sector_bytes);
    const bool gathers = !atomic && extra > 0 && avoids(Waste::scattered_access, instruction.line, extra * l2_clocks_);
    const std::vector<std::uint32_t> gathered = gathers ? gather(warp, operation) : std::vector<std::uint32_t>();
    const std::span<const std::uint32_t> sectors = gathers ? gathered : operation.sectors();
    double lines = 0;
    for (std::size_t i = 0; i < sectors.size(); ++i) lines += i == 0 || sectors[i] / 4 != sectors[i - 1] / 4;
    const double passes = atomic ? 1 : gathers ? min_parts(operation, bank_bytes) : operation.passes();
    const double clocks = std::max(passes, atomic ? 1 : lines * machine_.occupies.tag);
    const double begin = access_.serve(when, clocks);
    // Each lane writes a part of another sector. A few lanes do not matter.
    const bool writes_parts = operation.kind == OperationKind::device_write && operation.lanes > 4 &&
                              sectors.size() >= operation.lanes && operation.lane_bytes < sector_bytes;
    const int memory = memory_of(trace_, operation.words[0]);
    double now = when, of_sector = l2_clocks_;
    for (std::size_t i = 0; i < sectors.size(); ++i) {
        const std::uint32_t same = atomic && !instruction.aggregates ? operation.words[sectors.size() + i] >> 16 : 1;
        if (i == 0 || sectors[i] / 4 != sectors[i - 1] / 4) {
            std::size_t of_line = 1;
            while (i + of_line < sectors.size() && sectors[i + of_line] / 4 == sectors[i] / 4) ++of_line;
            of_sector = std::max(l2_clocks_, machine_.occupies.sector / static_cast<double>(of_line));
            if (writes_parts)
                of_sector = machine_.occupies.sector + machine_.occupies.partial_line / static_cast<double>(of_line);
        }
        const bool paired = (i > 0 && sectors[i - 1] == (sectors[i] ^ 1)) ||
                            (i + 1 < sectors.size() && sectors[i + 1] == (sectors[i] ^ 1));
        done = std::max(done, serve_sector(warp, operation, instruction, sectors[i], paired, of_sector, same, memory,
                                           begin + clocks, now));
    }
    return std::max({now, begin + clocks - max_queued_clocks, l2_.free - max_queued_l2_clocks,
                     dram_.free - max_queued_dram_clocks});
}

/// Return whether a warp reaches an operation `turns` more times before it leaves the loop.
bool Multiprocessor::has_turns_left(const WarpState& warp, const TracedOperation& operation,
                                    const Instruction& instruction, int turns) const {
    constexpr std::size_t max_ahead = 256;
    const std::vector<TracedOperation>& all = *warp.operations;
    for (std::size_t i = warp.next + 1; i < std::min(all.size(), warp.next + max_ahead); ++i) {
        if (all[i].place == operation.place && --turns == 0) return true;
        const Instruction* const other = code_.at(all[i].place);
        if (other && other->loop != instruction.loop) return false;
    }
    return false;
}

/// Return whether an operation waits in a later iteration: nvcc combines a few iterations, and starts their loads
/// before it waits. The iterations that remain at the end of a loop run one after the other.
bool Multiprocessor::waits_later(WarpState& warp, const TracedOperation& operation,
                                 const Instruction& instruction) const {
    if (!is_unrolled(instruction) || instruction.repeats_with_need) return false;
    WarpState::Turns& turns = warp.turns[operation.place];
    const int turn = turns.count % instruction.at_once;
    if (turn == 0) turns.whole = has_turns_left(warp, operation, instruction, instruction.at_once - 1);
    return turns.whole && turn + 1 < instruction.at_once;
}

/// Return whether an operation belongs to the first of the iterations that nvcc combines. The instructions before it
/// use the values that the previous iterations read.
bool Multiprocessor::starts_iterations(const WarpState& warp, const TracedOperation& operation,
                                       const Instruction& instruction) const {
    if (!is_unrolled(instruction)) return false;
    const auto turns = warp.turns.find(operation.place);
    return turns != warp.turns.end() && turns->second.count % instruction.at_once == 0;
}

/// Return when the results that an operation needs are available. Of the iterations that nvcc combines, only the last
/// one waits. A store to shared memory does not delay the next loads, because nvcc moves a few of them before it.
double Multiprocessor::ready_at(WarpState& warp, const TracedOperation& operation, const Instruction& instruction,
                                double when) const {
    if (operation.kind == OperationKind::basic_block)
        return warp.block_before ? wait_for(warp, warp.block_before->needs, when) : when;
    if (operation.kind == OperationKind::fence) {
        for (const auto& [place, results] : warp.results) when = std::max(when, results[0]);
        return when;
    }
    if (operation.kind == OperationKind::barrier) return std::max(when, warp.stores_ready);
    const bool is_read = operation.kind == OperationKind::device_read || operation.kind == OperationKind::shared_read;
    if (is_read) {
        when = std::max(when, warp.pending[warp.reads % max_pending]);
        if (starts_iterations(warp, operation, instruction)) when = wait_for(warp, {{operation.place, 0}}, when);
    }
    if (waits_later(warp, operation, instruction)) return when;
    if (operation.kind == OperationKind::shared_write && !is_unrolled(instruction))
        return std::max(when, warp.loads_of_stores[warp.stores % loads_at_once]);
    return wait_for(warp, instruction.needs, when);
}

/// Do the next operation of a warp, or determine that it must wait longer.
void Multiprocessor::step(double when, int number) {
    count_effort();
    static const Instruction unknown;
    WarpState& warp = warps_[static_cast<std::size_t>(number)];
    if (warp.next == warp.operations->size()) return finish_warp(number, when);
    const TracedOperation& operation = (*warp.operations)[warp.next];
    const Instruction* const known = code_.at(operation.place);
    const Instruction& instruction = known ? *known : unknown;
    if (!warp.lanes_left.empty()) {
        const double begin = issue(warp, when, retry_instructions, instruction.line) + retry_instructions;
        const double next = compare_and_swap(warp, operation, instruction, begin);
        return continue_warp(warp, number, next, instruction.line);
    }
    const double ready = ready_at(warp, operation, instruction, when);
    if (ready > when + 1e-9) return queue_.push({ready, number});
    if (is_unrolled(instruction)) ++warp.turns[operation.place].count;
    ++served_;
    if (instruction.continues) {
        ++warp.next;
        keep_result(warp, operation.place, warp.vector_ready);
        return queue_.push({when, number});
    }
    double next = when;
    switch (operation.kind) {
        case OperationKind::basic_block:
            warp.block_before = known;
            next = do_basic_block(warp, instruction, when);
            break;
        case OperationKind::barrier: {
            BlockState& block = blocks_[static_cast<std::size_t>(warp.block)];
            const double arrival = issue(warp, when, 1, instruction.line) + 1;
            charge_time(warp, arrival, instruction.line);
            block.last_arrival = block.arrived++ == 0 ? arrival : std::max(block.last_arrival, arrival);
            block.waiting.push_back(number);
            ++warp.next;
            if (block.arrived == block.alive) release_barrier(block);
            return;
        }
        case OperationKind::warp_function: {
            const double count = instruction.wide ? 2 : 1;
            next = issue(warp, when, count, instruction.line) + count;
            const double begin = access_.serve(next, count * machine_.occupies.shuffle);
            add_busy(Resource::shared_memory, count * machine_.occupies.shuffle, instruction.line);
            keep_result(warp, operation.place, begin + machine_.latency.shuffle);
            break;
        }
        case OperationKind::fence:
            next = when + machine_.latency.l2 * 1.5;
            break;
        case OperationKind::constant_read:
            next = when;
            if (operation.words[0] > 1)
                next = issue(warp, when, operation.words[0], instruction.line) + operation.words[0];
            break;
        case OperationKind::shared_read:
        case OperationKind::shared_write:
        case OperationKind::shared_atomic:
            next = do_shared(warp, operation, instruction, issue(warp, when, 1, instruction.line) + 1);
            break;
        case OperationKind::device_read:
        case OperationKind::device_write:
        case OperationKind::device_atomic:
            next = do_device(warp, operation, instruction, issue(warp, when, 1, instruction.line) + 1);
            break;
    }
    continue_warp(warp, number, next, instruction.line);
}

/// Let a warp continue at `when`: with its next operation, or with the remaining lanes of a compare-and-swap.
void Multiprocessor::continue_warp(WarpState& warp, int number, double when, int line) {
    if (warp.lanes_left.empty()) ++warp.next;
    charge_time(warp, when, line);
    queue_.push({when, number});
}

double Multiprocessor::extrapolate(double end) const {
    double slowest_slice = 0;
    for (const auto& [slice, free] : slice_free_) slowest_slice = std::max(slowest_slice, free);
    double clocks = std::max({end, l2_.free, dram_.free, slowest_slice});
    if (blocks_in_all_ <= replayed_) return clocks;
    const double max_busy = *std::ranges::max_element(time_.busy);
    double rate = replayed_ / end;
    if (static_cast<int>(starts_.size()) > 2 * at_start_) {
        const double first = starts_[static_cast<std::size_t>(at_start_)];
        rate = (static_cast<double>(starts_.size()) - 1 - at_start_) / std::max(1.0, starts_.back() - first);
    }
    rate = std::min(rate, replayed_ / std::max(1.0, max_busy));
    return clocks + (blocks_in_all_ - replayed_) / rate;
}

KernelTime Multiprocessor::run() {
    for (int b = 0; b < std::min(at_start_, replayed_); ++b) start_block(0);
    double end = 0;
    while (!queue_.empty()) {
        const auto [when, number] = queue_.top();
        queue_.pop();
        end = std::max(end, when);
        step(when, number);
    }
    std::ranges::sort(starts_);
    double& atomics = time_.busy[static_cast<std::size_t>(Resource::atomics)];
    double unanswered = 0;
    for (const auto& [slice, busy] : answered_) atomics = std::max(atomics, busy);
    for (const auto& [slice, busy] : unanswered_) unanswered = std::max(unanswered, busy);
    // While the L2 does atomics that nobody waits for, they delay the other accesses somewhat. The root of the squares
    // fits the times that a microbenchmark measured on an H200.
    time_.clocks = std::hypot(extrapolate(end), unanswered * blocks_in_all_ / replayed_);
    atomics = std::max(atomics, unanswered);
    const double scale = blocks_in_all_ / replayed_;
    for (double& busy : time_.busy) busy *= scale;
    for (auto& [line, of_line] : time_.busy_of_line)
        for (double& busy : of_line) busy *= scale;
    for (auto& [change, clocks] : time_.wasted) clocks *= scale;
    return time_;
}

/// Update the contents of the L2: the sectors that the launch used and, if there is room, earlier ones. If the launch
/// used more sectors than fit, fewer remain, because each new sector may replace one that is needed again.
void update(Residency& residency, const std::vector<Footprint>& footprints, double l2_bytes) {
    double used = 0, before = 0;
    for (std::size_t m = 0; m < footprints.size(); ++m) {
        used += footprints[m].of_launch * sector_bytes;
        before += residency.bytes[m];
    }
    const double fits = l2_bytes / std::max(1.0, used);
    const double held = fits >= 1 ? 1 : fits > 0.5 ? fits : 0.3 * fits;
    const double kept_share = std::min(1.0, std::max(0.0, l2_bytes - used) / std::max(1.0, before));
    for (std::size_t m = 0; m < footprints.size(); ++m)
        residency.bytes[m] = std::max(held * footprints[m].of_launch * sector_bytes, kept_share * residency.bytes[m]);
    ++residency.launches;
}

}  // namespace

const char* resource_name(Resource resource) {
    switch (resource) {
        case Resource::memory:
            return "memory";
        case Resource::l2:
            return "L2";
        case Resource::shared_memory:
            return "shared memory";
        case Resource::atomics:
            return "atomics";
        case Resource::issue:
            return "instruction issue";
        case Resource::fp64:
            return "FP64";
        case Resource::special:
            return "special functions and conversions";
    }
    return "";
}

KernelTime replay(const Machine& machine, const Trace& trace, const TracedLaunch& launch, const Code& code,
                  int registers, Residency& residency, const Change* change) {
    if (launch.sampled.empty()) return {};
    count_effort();
    Multiprocessor multiprocessor(machine, trace, launch, code, registers, residency, change);
    KernelTime time = multiprocessor.run();
    update(residency, multiprocessor.footprints(), machine.l2_bytes);
    return time;
}

}  // namespace warplab::predict
