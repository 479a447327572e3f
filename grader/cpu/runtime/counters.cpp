#include "grader/cpu/runtime/counters.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <vector>

#include "grader/cpu/include/warplab_cpu/scheduler.h"
#include "grader/cpu/runtime/fault.h"

namespace warplab_cpu {
namespace {

using warplab::AccessCounts;
using warplab::LaunchCounts;
using warplab::MemoryKind;

constexpr unsigned lanes_per_warp = 32, most_threads = 1024, counted_blocks = 32, banks = 32;
constexpr std::size_t most_of_one_thread = 256;  // accesses that are kept before they are counted
// Accesses of a process: a solver's later iterations are like the first.
constexpr std::uint64_t most_counted = 1 << 20;
constexpr std::uintptr_t sector_bytes = 32, word_bytes = 4;

/// What the lanes of a warp access at one place, each for the k-th time since the last barrier.
struct Request {
    std::array<std::uintptr_t, lanes_per_warp> address{};
    std::uint32_t lanes = 0;  // a bit for each that takes part
    LoggedAccess like{};
};

template <class Visit>
void for_each_lane(const Request& request, Visit visit) {
    for (std::uint32_t left = request.lanes; left; left &= left - 1) visit(std::countr_zero(left));
}

/// A few addresses or what they lie in, without allocating for each request.
class Few {
  public:
    void add(std::uintptr_t value) { values_[count_++] = value; }
    std::uint64_t count() const { return count_; }

    Few& keep_different() {
        std::sort(begin(), end());
        count_ = static_cast<std::size_t>(std::unique(begin(), end()) - begin());
        return *this;
    }
    std::uintptr_t* begin() { return values_.data(); }
    std::uintptr_t* end() { return begin() + count_; }

  private:
    std::array<std::uintptr_t, 2 * lanes_per_warp> values_;
    std::size_t count_ = 0;
};

std::uint64_t count_sectors(const Request& request) {
    Few sectors;
    for_each_lane(request, [&](int lane) {
        const std::uintptr_t first = request.address[lane] / sector_bytes;
        const std::uintptr_t last = (request.address[lane] + request.like.width - 1) / sector_bytes;
        sectors.add(first);
        if (last != first) sectors.add(last);
    });
    return sectors.keep_different().count();
}

/// Passes over the banks: lanes that want different words of one bank wait for each other. Accesses of 8 and 16 bytes
/// are served in two and four parts.
std::uint64_t count_bank_passes(const Request& request) {
    const unsigned parts = std::max<unsigned>(1, request.like.width / word_bytes);
    std::uint64_t passes = 0;
    for (unsigned part = 0; part < parts; ++part) {
        Few words;
        const unsigned first = part * lanes_per_warp / parts, end = (part + 1) * lanes_per_warp / parts;
        for_each_lane(request, [&](int lane) {
            if (static_cast<unsigned>(lane) < first || static_cast<unsigned>(lane) >= end) return;
            const std::uintptr_t last = (request.address[lane] + request.like.width - 1) / word_bytes;
            for (std::uintptr_t word = request.address[lane] / word_bytes; word <= last; ++word) words.add(word);
        });
        std::array<std::uint64_t, banks> of_bank{};
        for (const std::uintptr_t word : words.keep_different()) ++of_bank[word % banks];
        passes += *std::max_element(of_bank.begin(), of_bank.end());
    }
    return std::max<std::uint64_t>(passes, 1);
}

Few addresses_of(const Request& request) {
    Few addresses;
    for_each_lane(request, [&](int lane) { addresses.add(request.address[lane]); });
    return addresses;
}

/// The most lanes that update one address: they do so one after the other.
std::uint64_t count_same_address(const Request& request) {
    Few addresses = addresses_of(request);
    std::sort(addresses.begin(), addresses.end());
    std::ptrdiff_t most = 0;
    for (auto* same = addresses.begin(); same != addresses.end();) {
        auto* const next = std::upper_bound(same, addresses.end(), *same);
        most = std::max(most, next - same);
        same = next;
    }
    return static_cast<std::uint64_t>(most);
}

/// The cache of constants serves one address at a time.
std::uint64_t count_addresses(const Request& request) { return addresses_of(request).keep_different().count(); }

class Counter {
  public:
    void begin(const char* kernel) {
        kernel_ = kernel;
        first_block_ = block_state.epoch + 1;
    }

    void add(const LoggedAccess& access) {
        if (AccessCounts* counts = recent_counts_of(access)) ++counts->accesses;
        if (block_state.epoch - first_block_ >= counted_blocks || left_ == 0) return;
        --left_;
        if (block_state.epoch != block_ || block_state.generation != generation_) flush();
        block_ = block_state.epoch;
        generation_ = block_state.generation;
        std::vector<LoggedAccess>& log = logs_[linear_thread()];
        log.push_back(access);
        anything_ = true;
        if (block_state.threads == 1 && log.size() >= most_of_one_thread) flush_warp(0);  // nobody to wait for
    }

    void flush() {
        if (!anything_) return;
        for (unsigned first = 0; first < most_threads; first += lanes_per_warp) flush_warp(first);
        anything_ = false;
    }

  private:
    /// Most accesses are at few places: those need no search.
    AccessCounts* recent_counts_of(const LoggedAccess& access) {
        Recent& recent = recent_[access.place % recent_.size()];
        if (recent.place != access.place || recent.kind != access.kind || !recent.known)
            recent = {true, access.place, access.kind, counts_of(access.place, access)};
        return recent.counts;
    }

    void flush_warp(unsigned first) {
        std::map<std::uint32_t, std::vector<Request>> places;
        for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
            std::map<std::uint32_t, std::size_t> times;
            for (const LoggedAccess& access : logs_[first + lane]) {
                auto& requests = places[access.place];
                const std::size_t k = times[access.place]++;
                if (k == requests.size()) requests.emplace_back();
                requests[k].address[lane] = access.address;
                requests[k].lanes |= 1u << lane;
                requests[k].like = access;
            }
            logs_[first + lane].clear();
        }
        for (const auto& [place, requests] : places)
            for (const Request& request : requests) tally(place, request);
    }

    void tally(std::uint32_t place, const Request& request) {
        AccessCounts* counts = counts_of(place, request.like);
        if (!counts) return;
        const auto lanes = static_cast<std::uint64_t>(std::popcount(request.lanes));
        ++counts->requests;
        counts->lanes += lanes;
        if (request.like.kind == MemoryKind::shared) {
            counts->bank_passes += count_bank_passes(request);
        } else if (request.like.kind == MemoryKind::constant) {
            counts->bank_passes += count_addresses(request);
        } else {
            const std::uint64_t sectors = count_sectors(request);
            counts->sectors += sectors;
            counts->fewest_sectors += std::min(sectors, (lanes * request.like.width + sector_bytes - 1) / sector_bytes);
        }
        if (request.like.atomic) counts->same_address += count_same_address(request);
    }

    AccessCounts* counts_of(std::uint32_t place, const LoggedAccess& like) {
        warplab::StatusPage& page = writable_page();
        const auto [known, is_new] = index_.try_emplace({place, like.kind}, page.place_count);
        if (!is_new) return known->second < warplab::most_places ? &page.places[known->second] : nullptr;
        if (page.place_count >= warplab::most_places) {
            known->second = warplab::most_places;
            return nullptr;
        }
        AccessCounts& counts = page.places[page.place_count++];
        counts = {};
        counts.program_counter = place;
        counts.width = like.width;
        counts.writes = like.writes;
        counts.atomic = like.atomic;
        counts.kind = static_cast<std::uint32_t>(like.kind);
        std::strncpy(counts.kernel, kernel_, sizeof counts.kernel - 1);
        return &counts;
    }

    struct Recent {
        bool known = false;
        std::uint32_t place = 0;
        MemoryKind kind = MemoryKind::device;
        AccessCounts* counts = nullptr;
    };
    std::array<Recent, 256> recent_;
    std::array<std::vector<LoggedAccess>, most_threads> logs_;
    std::map<std::pair<std::uint32_t, MemoryKind>, std::uint32_t> index_;
    const char* kernel_ = "";
    std::uint32_t first_block_ = 0, block_ = 0, generation_ = 0;
    std::uint64_t left_ = most_counted;
    bool anything_ = false;
};

Counter* the_counter = nullptr;  // from the first grid on

/// The record of launches like this one; null when there are too many different ones.
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
    if (page.shape_count >= warplab::most_shapes) return nullptr;
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

void count_access(const LoggedAccess& access) { the_counter->add(access); }
void begin_counting(const Grid& grid) {
    if (!the_counter) the_counter = new Counter;
    the_counter->begin(grid.kernel);
}

void end_counting(const Grid& grid, std::size_t static_shared_bytes) {
    the_counter->flush();
    count_launch(grid, static_shared_bytes);
}

}  // namespace warplab_cpu
