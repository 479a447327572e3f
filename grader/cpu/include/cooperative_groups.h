#ifndef WARPLAB_CPU_COOPERATIVE_GROUPS_H
#define WARPLAB_CPU_COOPERATIVE_GROUPS_H
// Cooperative groups: the grid, the block, its tiles, and groups of lanes of a warp.

#include <type_traits>
#include <utility>

#include "cuda_runtime.h"

namespace cooperative_groups {

using warplab_cpu::Line;
class thread_block;
class coalesced_group;
class thread_group;
template <unsigned Size, class Parent = void>
class thread_block_tile;

namespace details {

/// Shuffle a value of any size, 8 bytes at a time.
template <class T>
T shuffle(unsigned mask, const T& value, unsigned source_lane, Line line) {
    static_assert(std::is_trivially_copyable_v<T>, "groups exchange only values that can be copied bit by bit");
    T result;
    for (size_t at = 0; at < sizeof(T); at += 8) {
        const size_t bytes = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
        uint64_t word = 0;
        memcpy(&word, reinterpret_cast<const char*>(&value) + at, bytes);
        word = warplab_cpu::warp_shuffle(mask, word, source_lane, line);
        memcpy(reinterpret_cast<char*>(&result) + at, &word, bytes);
    }
    warplab_cpu::restore_thread();
    return result;
}

inline unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }

/// Return the lanes that exist in the calling thread's warp.
inline unsigned lanes_of_warp() {
    const unsigned left = block_size() - warplab_cpu::linear_thread() / 32 * 32;
    return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

inline constexpr unsigned mask_of(unsigned lanes) { return unsigned((uint64_t{1} << lanes) - 1); }

/// Convert a mask of lanes to a mask of their ranks in the group whose lanes are `mask`.
inline unsigned to_ranks(unsigned mask, unsigned lanes) {
    unsigned result = 0, rank = 0;
    for (unsigned left = mask; left; left &= left - 1, ++rank)
        if (lanes & left & -left) result |= 1u << rank;
    return result;
}

struct arrival_token {};

/// Votes of the lanes of `Group::lanes()`. They return masks of ranks instead of masks of lanes.
template <class Group>
class Votes {
  public:
    int any(int predicate, Line line = {}) const { return __any_sync(lanes(), predicate, line); }
    int all(int predicate, Line line = {}) const { return __all_sync(lanes(), predicate, line); }
    unsigned ballot(int predicate, Line line = {}) const {
        return to_ranks(lanes(), __ballot_sync(lanes(), predicate, line));
    }
    template <class T>
    unsigned match_any(T value, Line line = {}) const {
        return to_ranks(lanes(), __match_any_sync(lanes(), value, line));
    }
    template <class T>
    unsigned match_all(T value, int& all, Line line = {}) const {
        return to_ranks(lanes(), __match_all_sync(lanes(), value, &all, line));
    }

  private:
    unsigned lanes() const { return static_cast<const Group*>(this)->lanes(); }
};

}  // namespace details

class thread_block {
  public:
    using arrival_token = details::arrival_token;
    static void sync(Line line = {}) { __syncthreads(line); }
    static arrival_token barrier_arrive() { return {}; }
    static void barrier_wait(arrival_token&&, Line line = {}) { __syncthreads(line); }
    static unsigned thread_rank() { return warplab_cpu::linear_thread(); }
    static unsigned size() { return details::block_size(); }
    static unsigned num_threads() { return size(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

/// The memory that GPUs before Ampere need for tiles of more than one warp. It is not used here.
template <unsigned MaxBlockSize = 1024>
struct alignas(16) block_tile_memory {
    char scratch[MaxBlockSize / 32 * 8];
};
template <unsigned MaxBlockSize>
thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
    return {};
}

class grid_group {
  public:
    using arrival_token = details::arrival_token;
    static bool is_valid() { return warplab_cpu::is_cooperative_launch(); }
    static void sync(Line line = {}) {
        warplab_cpu::note_barrier(line);
        warplab_cpu::grid_barrier(line);
        warplab_cpu::restore_thread();
    }
    /// As in CUDA, a block arrives when all its threads have arrived.
    static arrival_token barrier_arrive(Line line = {}) {
        warplab_cpu::note_grid_arrival();
        __syncthreads(line);
        return {};
    }
    static void barrier_wait(arrival_token&&, Line line = {}) { sync(line); }
    static unsigned long long size() { return num_blocks() * details::block_size(); }
    static unsigned long long num_threads() { return size(); }
    static unsigned long long thread_rank() {
        return block_rank() * details::block_size() + warplab_cpu::linear_thread();
    }
    static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
    static unsigned long long block_rank() {
        return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 group_dim() { return gridDim; }
    static dim3 block_index() { return blockIdx; }
    static dim3 dim_threads() { return {gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z}; }
    static dim3 thread_index() {
        return {blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z};
    }
};
inline grid_group this_grid() { return {}; }

/// A group of lanes of one warp. A lane's rank is the number of lower lanes in the mask.
class coalesced_group : public details::Votes<coalesced_group> {
  public:
    explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
        : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
    unsigned thread_rank() const { return __popc(mask_ & details::mask_of(warplab_cpu::lane())); }
    unsigned size() const { return __popc(mask_); }
    unsigned num_threads() const { return size(); }
    unsigned meta_group_rank() const { return meta_rank_; }
    unsigned meta_group_size() const { return meta_size_; }
    unsigned lanes() const { return mask_; }
    void sync(Line line = {}) const { __syncwarp(mask_, line); }
    template <class T>
    T shfl(T value, unsigned rank, Line line = {}) const {
        return details::shuffle(mask_, value, lane_of(rank % size()), line);
    }
    template <class T>
    T shfl_down(T value, unsigned delta, Line line = {}) const {
        const unsigned here = thread_rank();
        return details::shuffle(mask_, value, lane_of(delta < size() - here ? here + delta : here), line);
    }
    template <class T>
    T shfl_up(T value, unsigned delta, Line line = {}) const {
        const unsigned here = thread_rank();
        return details::shuffle(mask_, value, lane_of(here >= delta ? here - delta : here), line);
    }

  private:
    unsigned lane_of(unsigned rank) const { return __fns(mask_, 0, int(rank) + 1); }

    unsigned mask_, meta_rank_, meta_size_;
};
inline coalesced_group coalesced_threads(Line line = {}) { return coalesced_group(__activemask(line)); }

namespace details {

/// A tile within a warp.
template <unsigned Size>
class SmallTile : public Votes<SmallTile<Size>> {
  public:
    static void sync(Line line = {}) { __syncwarp(lanes(), line); }
    static unsigned lanes() { return mask_of(Size) << first_lane() & lanes_of_warp(); }
    template <class T>
    T shfl(T value, unsigned rank, Line line = {}) const {
        return shuffle(lanes(), value, first_lane() + rank % Size, line);
    }
    template <class T>
    T shfl_xor(T value, unsigned bits, Line line = {}) const {
        return shuffle(lanes(), value, first_lane() + (rank() ^ bits) % Size, line);
    }
    template <class T>
    T shfl_down(T value, unsigned delta, Line line = {}) const {
        return shuffle(lanes(), value, first_lane() + (delta < Size - rank() ? rank() + delta : rank()), line);
    }
    template <class T>
    T shfl_up(T value, unsigned delta, Line line = {}) const {
        return shuffle(lanes(), value, first_lane() + (rank() >= delta ? rank() - delta : rank()), line);
    }

  private:
    static unsigned first_lane() { return warplab_cpu::lane() / Size * Size; }
    static unsigned rank() { return warplab_cpu::lane() % Size; }
};

/// A tile of several warps.
template <unsigned Size>
class LargeTile {
  public:
    static void sync(Line line = {}) { combine(nullptr, nullptr, nullptr, line); }
    template <class T>
    T shfl(T value, unsigned rank, Line line = {}) const {
        static_assert(std::is_trivially_copyable_v<T>, "groups exchange only values that can be copied bit by bit");
        struct Exchange {
            T given, taken;
            unsigned source;
        } exchange{value, value, rank % Size};
        combine(
            &exchange,
            [](void* const* places, unsigned count, void*) {
                for (unsigned i = 0; i < count; ++i) {
                    auto* to = static_cast<Exchange*>(places[i]);
                    const auto* from = to && to->source < count ? static_cast<Exchange*>(places[to->source]) : nullptr;
                    if (from) to->taken = from->given;
                }
            },
            nullptr, line);
        return exchange.taken;
    }
    int any(int predicate, Line line = {}) const { return count_votes(predicate != 0, line) != 0; }
    int all(int predicate, Line line = {}) const { return count_votes(predicate == 0, line) == 0; }

    static void combine(void* place, warplab_cpu::Combine function, void* context, Line line) {
        warplab_cpu::tile_combine(Size, place, function, context, line);
        warplab_cpu::restore_thread();
    }

  private:
    /// Return the number of threads of the tile whose vote is true.
    static int count_votes(bool vote, Line line) {
        int count = vote;
        combine(
            &count,
            [](void* const* places, unsigned threads, void*) {
                int sum = 0;
                for (unsigned i = 0; i < threads; ++i) sum += places[i] ? *static_cast<int*>(places[i]) : 0;
                for (unsigned i = 0; i < threads; ++i)
                    if (places[i]) *static_cast<int*>(places[i]) = sum;
            },
            nullptr, line);
        return count;
    }
};

template <unsigned Size>
inline constexpr bool is_power_of_two_to_512 = Size != 0 && (Size & (Size - 1)) == 0 && Size <= 512;

template <unsigned Size>
using Tile = std::conditional_t<(Size <= 32), SmallTile<Size>, LargeTile<Size>>;

template <class Parent>
inline constexpr unsigned parent_size = 0;
template <unsigned Size, class Parent>
inline constexpr unsigned parent_size<thread_block_tile<Size, Parent>> = Size;

template <class Parent>
unsigned threads_of_parent() {
    return parent_size<Parent> ? parent_size<Parent> : block_size();
}

}  // namespace details

/// A tile of the block or of a larger tile. `Parent` is void if only the tile's size is known.
template <unsigned Size, class Parent>
class thread_block_tile : public details::Tile<Size> {
    static_assert(details::is_power_of_two_to_512<Size>, "a tile has 1, 2, 4, 8, 16, 32, 64, 128, 256 or 512 threads");

  public:
    thread_block_tile(const Parent&) {}
    static unsigned thread_rank() { return warplab_cpu::linear_thread() % Size; }
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned meta_group_rank() {
        return warplab_cpu::linear_thread() % details::threads_of_parent<Parent>() / Size;
    }
    static unsigned meta_group_size() { return (details::threads_of_parent<Parent>() + Size - 1) / Size; }
};

template <unsigned Size>
class thread_block_tile<Size, void> : public details::Tile<Size> {
  public:
    template <class Parent>
    thread_block_tile(const thread_block_tile<Size, Parent>& tile)
        : meta_rank_(tile.meta_group_rank()), meta_size_(tile.meta_group_size()) {}
    static unsigned thread_rank() { return warplab_cpu::linear_thread() % Size; }
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    unsigned meta_group_rank() const { return meta_rank_; }
    unsigned meta_group_size() const { return meta_size_; }

  private:
    unsigned meta_rank_, meta_size_;
};

template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
    static_assert(details::parent_size<Parent> == 0 || Size < details::parent_size<Parent>,
                  "a tile must be smaller than the tile that it is part of");
    return {parent};
}
inline thread_block_tile<1> this_thread() { return thread_block_tile<1, thread_block>(thread_block()); }

/// A group whose kind is known only at run time.
class thread_group {
  public:
    thread_group(const thread_block&) : kind_(Kind::block) {}
    thread_group(const grid_group&) : kind_(Kind::grid) {}
    thread_group(const coalesced_group& group) : mask_(group.lanes()) {}
    template <unsigned Size, class Parent>
    thread_group(const thread_block_tile<Size, Parent>&) : tile_threads_(Size) {
        if constexpr (Size > 32)
            kind_ = Kind::large_tile;
        else
            mask_ = details::SmallTile<Size>::lanes();
    }
    void sync(Line line = {}) const {
        if (kind_ == Kind::block) thread_block::sync(line);
        if (kind_ == Kind::grid) grid_group::sync(line);
        if (kind_ == Kind::lanes) __syncwarp(mask_, line);
        if (kind_ == Kind::large_tile) warplab_cpu::tile_combine(tile_threads_, nullptr, nullptr, nullptr, line);
        warplab_cpu::restore_thread();
    }
    unsigned long long thread_rank() const {
        if (kind_ == Kind::block) return thread_block::thread_rank();
        if (kind_ == Kind::grid) return grid_group::thread_rank();
        if (kind_ == Kind::large_tile) return warplab_cpu::linear_thread() % tile_threads_;
        return coalesced_group(mask_).thread_rank();
    }
    unsigned long long size() const {
        if (kind_ == Kind::block) return thread_block::size();
        if (kind_ == Kind::grid) return grid_group::size();
        return tile_threads_ ? tile_threads_ : coalesced_group(mask_).size();
    }
    unsigned long long num_threads() const { return size(); }

  private:
    friend thread_group tiled_partition(const thread_group& parent, unsigned size);
    enum class Kind { lanes, large_tile, block, grid };
    Kind kind_ = Kind::lanes;
    unsigned mask_ = 0, tile_threads_ = 0;
};

inline thread_group tiled_partition(const thread_block&, unsigned size) {
    const unsigned first = warplab_cpu::lane() / size * size;
    return coalesced_group(details::mask_of(size) << first & details::lanes_of_warp());
}

/// Divide the parent, in the order of ranks, into groups of `size` threads. Return the calling thread's group.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
    const unsigned tile = parent.thread_rank() / size;
    unsigned mask = 0, rank = 0;
    for (unsigned left = parent.lanes(); left; left &= left - 1, ++rank)
        if (rank / size == tile) mask |= left & -left;
    return coalesced_group(mask, tile, (parent.size() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
    if (parent.kind_ == thread_group::Kind::block) return tiled_partition(thread_block(), size);
    return tiled_partition(coalesced_group(parent.mask_), size);
}

namespace details {

template <class Group>
coalesced_group split_in_two(const Group& group, bool predicate, Line line) {
    const unsigned all = group.lanes(), set = __ballot_sync(all, predicate, line);
    if (set == 0 || set == all) return coalesced_group(all);
    return coalesced_group(predicate ? set : all & ~set, predicate, 2);
}

template <class Group, class Label>
coalesced_group split_by_label(const Group& group, Label label, Line line) {
    static_assert(std::is_integral_v<Label> || std::is_pointer_v<Label>, "a label must be an integer or a pointer");
    if constexpr (std::is_same_v<Label, bool>) return split_in_two(group, label, line);
    const unsigned peers = __match_any_sync(group.lanes(), (unsigned long long)(label), line);
    const unsigned leader = peers & -peers;
    const unsigned leaders = __ballot_sync(group.lanes(), leader == 1u << warplab_cpu::lane(), line);
    return coalesced_group(peers, __popc(leaders & (leader - 1)), __popc(leaders));
}

}  // namespace details

inline coalesced_group binary_partition(const coalesced_group& group, bool predicate, Line line = {}) {
    return details::split_in_two(group, predicate, line);
}
template <unsigned Size, class Parent>
coalesced_group binary_partition(const thread_block_tile<Size, Parent>& tile, bool predicate, Line line = {}) {
    static_assert(Size <= 32, "only tiles of at most 32 threads can be partitioned by a predicate");
    return details::split_in_two(tile, predicate, line);
}
template <class Label>
coalesced_group labeled_partition(const coalesced_group& group, Label label, Line line = {}) {
    return details::split_by_label(group, label, line);
}
template <class Label, unsigned Size, class Parent>
coalesced_group labeled_partition(const thread_block_tile<Size, Parent>& tile, Label label, Line line = {}) {
    static_assert(Size <= 32, "only tiles of at most 32 threads can be partitioned by a label");
    return details::split_by_label(tile, label, line);
}

template <class Group>
void sync(const Group& group, Line line = {}) {
    group.sync(line);
}
template <class Group>
auto thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
    return group.num_threads();
}

template <class Group, class Function, class... Arguments>
void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
    if (group.thread_rank() == 0) std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
}
template <class Group, class Function, class... Arguments>
auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments) {
    using Result = decltype(std::forward<Function>(function)(std::forward<Arguments>(arguments)...));
    static_assert(!std::is_void_v<Result>, "this function returns nothing: call it with invoke_one");
    std::decay_t<Result> result{};
    if (group.thread_rank() == 0) result = std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
    return group.shfl(result, 0);
}

}  // namespace cooperative_groups

#endif
