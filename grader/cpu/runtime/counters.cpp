#include "grader/cpu/runtime/counters.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <vector>

#include "grader/cpu/include/warplab_cpu/scheduler.h"
#include "grader/cpu/runtime/fault.h"
#include "grader/cpu/runtime/requests.h"

namespace warplab_cpu {
namespace {

using warplab::AccessCounts;
using warplab::LaunchCounts;
using warplab::MemoryKind;

constexpr unsigned lanes_per_warp = lanes_in_request, max_threads = 1024, counted_blocks = 32;
constexpr std::size_t max_kept_places = 64;     // places kept from earlier grids, with their memory
constexpr std::size_t max_of_one_thread = 256;  // accesses of one thread that are kept before they are counted
// The maximum number of counted accesses per dataset: a solver's later iterations resemble the first.
constexpr std::uint64_t max_counted = 1 << 20;

/// One access by each lane of a warp at one place: the lane's k-th access there since the last barrier.
struct Request {
    LaneAddresses lanes{};
    LoggedAccess access{};
};

class Counter {
  public:
    void begin(const char* kernel) {
        kernel_ = kernel;
        if (places_.size() > max_kept_places) places_.clear();
        first_logged_block = block_state.epoch + 1;
        logged_blocks = counts_requests && left_ ? counted_blocks : 0;
    }

    AccessCounts& counts_to_add_to(const LoggedAccess& access) {
        AccessCounts* const counts = counts_of(access.place, access);
        return counts ? *counts : not_kept_;
    }

    void log(const LoggedAccess& access) {
        if (block_state.epoch != block_ || block_state.generation != generation_) flush();
        block_ = block_state.epoch;
        generation_ = block_state.generation;
        const unsigned linear = linear_thread();
        std::vector<LoggedAccess>& log = logs_[linear];
        end_of_logs_ = std::max(end_of_logs_, linear + 1);
        log.push_back(access);
        anything_ = true;
        if (--left_ == 0) logged_blocks = 0;
        if (block_state.threads == 1 && log.size() >= max_of_one_thread) flush_warp(0);  // no other lanes to wait for
    }

    void flush() {
        if (!anything_) return;
        for (unsigned first = 0; first < end_of_logs_; first += lanes_per_warp) flush_warp(first);
        end_of_logs_ = 0;
        anything_ = false;
    }

  private:
    void flush_warp(unsigned first) {
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
            std::vector<LoggedAccess>& log = logs_[first + lane];
            if (log.empty()) continue;
            for (Requests& requests : places_) requests.next = 0;
            std::size_t likely = 0;  // the next place if the lanes reach places in the same order, as they usually do
            for (const LoggedAccess& access : log) {
                Request& request = requests_at(access.place, likely).provide_next();
                request.lanes.add(lane, access.address);
                request.lanes.width = access.width;
                request.access = access;
            }
            log.clear();
        }
        for (Requests& requests : places_) {
            for (std::size_t i = 0; i < requests.count; ++i) tally(requests.place, requests.all[i]);
            requests.count = 0;
        }
    }

    /// The accesses of a warp's lanes at one place. The next warp reuses the vector's memory.
    struct Requests {
        std::uint32_t place;
        std::vector<Request> all = {};
        std::size_t count = 0, next = 0;

        Request& provide_next() {
            if (next == all.size()) all.emplace_back();
            if (next == count) all[count++].lanes.lanes = 0;
            return all[next++];
        }
    };
    Requests& requests_at(std::uint32_t place, std::size_t& likely) {
        const auto is_there = [place](const Requests& requests) { return requests.place == place; };
        auto iterator = places_.begin() + static_cast<std::ptrdiff_t>(likely);
        if (iterator == places_.end() || !is_there(*iterator)) iterator = std::ranges::find_if(places_, is_there);
        if (iterator == places_.end()) iterator = places_.insert(iterator, Requests{place});
        likely = static_cast<std::size_t>(iterator - places_.begin()) + 1;
        return *iterator;
    }

    void tally(std::uint32_t place, const Request& request) {
        AccessCounts* counts = counts_of(place, request.access);
        if (!counts) return;
        const auto lanes = static_cast<std::uint64_t>(std::popcount(request.lanes.lanes));
        ++counts->requests;
        counts->lanes += lanes;
        if (request.access.kind == MemoryKind::shared) {
            counts->bank_passes += count_bank_passes(request.lanes);
        } else if (request.access.kind == MemoryKind::constant) {
            counts->bank_passes += addresses_of(request.lanes).remove_duplicates().count();  // served one at a time
        } else {
            const std::uint64_t sectors = sectors_of(request.lanes).count();
            counts->sectors += sectors;
            counts->fewest_sectors +=
                std::min(sectors, (lanes * request.access.width + sector_bytes - 1) / sector_bytes);
        }
        // Lanes that update one address do so one after the other.
        if (request.access.atomic) counts->same_address += count_most_frequent(addresses_of(request.lanes));
    }

    AccessCounts* counts_of(std::uint32_t place, const LoggedAccess& access) {
        warplab::StatusPage& page = writable_page();
        const auto [known, is_new] = index_.try_emplace({place, access.kind}, page.place_count);
        if (!is_new) return known->second < warplab::max_places ? &page.places[known->second] : nullptr;
        if (page.place_count >= warplab::max_places) {
            known->second = warplab::max_places;
            return nullptr;
        }
        AccessCounts& counts = page.places[page.place_count++];
        counts = {};
        counts.program_counter = place;
        counts.width = access.width;
        counts.writes = access.writes;
        counts.atomic = access.atomic;
        counts.kind = static_cast<std::uint32_t>(access.kind);
        std::strncpy(counts.kernel, kernel_, sizeof counts.kernel - 1);
        return &counts;
    }

    AccessCounts not_kept_{};  // used if there are too many places
    std::array<std::vector<LoggedAccess>, max_threads> logs_;
    std::map<std::pair<std::uint32_t, MemoryKind>, std::uint32_t> index_;
    std::vector<Requests> places_;
    const char* kernel_ = "";
    std::uint32_t block_ = 0, generation_ = 0, end_of_logs_ = 0;
    std::uint64_t left_ = max_counted;
    bool anything_ = false;
};

Counter* the_counter = nullptr;  // null before the first grid

/// Return the record of the launches with the same shape as this one; null if there are too many different shapes.
LaunchCounts* shape_of(const LaunchCounts& launch) {
    warplab::StatusPage& page = writable_page();
    const auto is_like = [&](const LaunchCounts& other) {
        return std::equal(launch.block, launch.block + 3, other.block) &&
               launch.static_shared_bytes == other.static_shared_bytes &&
               launch.dynamic_shared_bytes == other.dynamic_shared_bytes &&
               std::strcmp(launch.kernel, other.kernel) == 0;
    };
    LaunchCounts* const end = page.shapes + page.shape_count;
    LaunchCounts* const found = std::find_if(page.shapes, end, is_like);
    if (found != end) return found;
    if (page.shape_count >= warplab::max_shapes) return nullptr;
    ++page.shape_count;
    *end = launch;
    return end;
}

void count_launch(const Grid& grid, std::size_t static_shared_bytes) {
    LaunchCounts launch{};
    launch.static_shared_bytes = static_shared_bytes;
    launch.dynamic_shared_bytes = grid.shared_bytes;
    const unsigned block[] = {grid.threads.x, grid.threads.y, grid.threads.z};
    const unsigned blocks[] = {grid.blocks.x, grid.blocks.y, grid.blocks.z};
    std::copy(block, block + 3, launch.block);
    std::strncpy(launch.kernel, grid.kernel, sizeof launch.kernel - 1);
    LaunchCounts* const shape = shape_of(launch);
    if (!shape) return;
    const auto size = [](const auto& extent) { return std::uint64_t{extent[0]} * extent[1] * extent[2]; };
    ++shape->launches;
    shape->blocks += size(blocks);
    if (size(blocks) > size(shape->grid)) std::copy(blocks, blocks + 3, shape->grid);
}

}  // namespace

void forget_counts() {
    delete the_counter;
    the_counter = nullptr;
    writable_page().place_count = writable_page().shape_count = 0;
}

bool counts_requests = true;
std::uint32_t first_logged_block = 0, logged_blocks = 0;

AccessCounts& counts_of_accesses(const LoggedAccess& access) { return the_counter->counts_to_add_to(access); }
void log_access(const LoggedAccess& access) { the_counter->log(access); }
void begin_counting(const Grid& grid) {
    if (!the_counter) the_counter = new Counter;
    the_counter->begin(grid.kernel);
}

void end_counting(const Grid& grid, std::size_t static_shared_bytes) {
    the_counter->flush();
    count_launch(grid, static_shared_bytes);
}

}  // namespace warplab_cpu
