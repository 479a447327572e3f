#ifndef WARPLAB_CPU_COOPERATIVE_GROUPS_H
#define WARPLAB_CPU_COOPERATIVE_GROUPS_H
// Cooperative groups within a block: the block, its tiles of up to a warp, and the threads that are together now. A
// whole grid cannot synchronise here.

#include <type_traits>

#include "cuda_runtime.h"

namespace cooperative_groups {

namespace details {

/// A value of any size, moved by shuffles of 8 bytes.
template <class T>
T shuffle(unsigned mask, const T& value, unsigned source_lane, warplab_cpu::Line line) {
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

/// The lanes of the calling thread's warp that exist.
inline unsigned lanes_of_warp() {
    const unsigned left = block_size() - warplab_cpu::linear_thread() / 32 * 32;
    return left >= 32 ? 0xffffffffu : (1u << left) - 1;
}

/// Lanes of a warp as a group: ranks count the lanes of the mask.
class Lanes {
  public:
    explicit Lanes(unsigned mask) : mask_(mask) {}
    unsigned thread_rank() const { return __popc(mask_ & ((1u << warplab_cpu::lane()) - 1)); }
    unsigned size() const { return __popc(mask_); }
    unsigned num_threads() const { return size(); }
    void sync(warplab_cpu::Line line = {__builtin_LINE()}) const { __syncwarp(mask_, line); }
    int any(int predicate, warplab_cpu::Line line = {__builtin_LINE()}) const {
        return __any_sync(mask_, predicate, line);
    }
    int all(int predicate, warplab_cpu::Line line = {__builtin_LINE()}) const {
        return __all_sync(mask_, predicate, line);
    }
    unsigned ballot(int predicate, warplab_cpu::Line line = {__builtin_LINE()}) const {
        return ranks(__ballot_sync(mask_, predicate, line));
    }
    template <class T>
    unsigned match_any(T value, warplab_cpu::Line line = {__builtin_LINE()}) const {
        return ranks(__match_any_sync(mask_, value, line));
    }
    template <class T>
    unsigned match_all(T value, int& all, warplab_cpu::Line line = {__builtin_LINE()}) const {
        return ranks(__match_all_sync(mask_, value, &all, line));
    }
    template <class T>
    T shfl(T value, unsigned rank, warplab_cpu::Line line = {__builtin_LINE()}) const {
        return shuffle(mask_, value, lane_of(rank % size()), line);
    }
    template <class T>
    T shfl_down(T value, unsigned delta, warplab_cpu::Line line = {__builtin_LINE()}) const {
        const unsigned here = thread_rank();
        return shuffle(mask_, value, lane_of(delta < size() - here ? here + delta : here), line);
    }
    template <class T>
    T shfl_up(T value, unsigned delta, warplab_cpu::Line line = {__builtin_LINE()}) const {
        const unsigned here = thread_rank();
        return shuffle(mask_, value, lane_of(here >= delta ? here - delta : here), line);
    }

  protected:
    unsigned lane_of(unsigned rank) const { return __fns(mask_, 0, int(rank) + 1); }
    /// A mask of lanes as a mask of ranks.
    unsigned ranks(unsigned lanes) const {
        unsigned result = 0, rank = 0;
        for (unsigned left = mask_; left; left &= left - 1, ++rank)
            if (lanes & left & -left) result |= 1u << rank;
        return result;
    }

    unsigned mask_;
};

}  // namespace details

class thread_block {
  public:
    void sync(warplab_cpu::Line line = {__builtin_LINE()}) const { __syncthreads(line); }
    unsigned thread_rank() const { return warplab_cpu::linear_thread(); }
    unsigned size() const { return details::block_size(); }
    unsigned num_threads() const { return size(); }
    dim3 group_index() const { return blockIdx; }
    dim3 thread_index() const { return threadIdx; }
    dim3 group_dim() const { return blockDim; }
    dim3 dim_threads() const { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

class coalesced_group : public details::Lanes {
  public:
    using Lanes::Lanes;
    unsigned meta_group_rank() const { return 0; }
    unsigned meta_group_size() const { return 1; }
};
inline coalesced_group coalesced_threads(warplab_cpu::Line line = {__builtin_LINE()}) {
    return coalesced_group(__activemask(line));
}

template <unsigned Size, class Parent = void>
class thread_block_tile : public details::Lanes {
  public:
    thread_block_tile() : Lanes(own_lanes()) {}
    unsigned thread_rank() const { return warplab_cpu::lane() % Size; }
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    unsigned meta_group_rank() const { return warplab_cpu::linear_thread() / Size; }
    unsigned meta_group_size() const { return (details::block_size() + Size - 1) / Size; }
    unsigned ballot(int predicate, warplab_cpu::Line line = {__builtin_LINE()}) const {
        return __ballot_sync(mask_, predicate, line) >> first_lane();
    }
    template <class T>
    T shfl(T value, unsigned rank, warplab_cpu::Line line = {__builtin_LINE()}) const {
        return details::shuffle(mask_, value, first_lane() + rank % Size, line);
    }
    template <class T>
    T shfl_xor(T value, unsigned bits, warplab_cpu::Line line = {__builtin_LINE()}) const {
        return details::shuffle(mask_, value, first_lane() + (thread_rank() ^ bits) % Size, line);
    }
    template <class T>
    T shfl_down(T value, unsigned delta, warplab_cpu::Line line = {__builtin_LINE()}) const {
        const unsigned here = thread_rank();
        return details::shuffle(mask_, value, first_lane() + (delta < Size - here ? here + delta : here), line);
    }
    template <class T>
    T shfl_up(T value, unsigned delta, warplab_cpu::Line line = {__builtin_LINE()}) const {
        const unsigned here = thread_rank();
        return details::shuffle(mask_, value, first_lane() + (here >= delta ? here - delta : here), line);
    }

  private:
    static unsigned first_lane() { return warplab_cpu::lane() / Size * Size; }
    static unsigned own_lanes() {
        return unsigned(((uint64_t{1} << Size) - 1) << first_lane()) & details::lanes_of_warp();
    }
};

/// Tiles of a power of two up to a warp; a larger one is an error at the caller's line.
template <unsigned Size, class Parent>
std::enable_if_t<(Size == 1 || Size == 2 || Size == 4 || Size == 8 || Size == 16 || Size == 32),
                 thread_block_tile<Size, Parent>>
tiled_partition(const Parent&) {
    return {};
}

/// Any group, its kind known only at run time.
class thread_group {
  public:
    thread_group(const thread_block&) : whole_block_(true) {}
    template <unsigned Size, class Parent>
    thread_group(const thread_block_tile<Size, Parent>& tile) : lanes_(tile) {}
    thread_group(const coalesced_group& group) : lanes_(group) {}
    explicit thread_group(unsigned mask) : lanes_(mask) {}
    void sync(warplab_cpu::Line line = {__builtin_LINE()}) const {
        if (whole_block_)
            __syncthreads(line);
        else
            lanes_.sync(line);
    }
    unsigned thread_rank() const { return whole_block_ ? warplab_cpu::linear_thread() : lanes_.thread_rank(); }
    unsigned size() const { return whole_block_ ? details::block_size() : lanes_.size(); }
    unsigned num_threads() const { return size(); }

  private:
    bool whole_block_ = false;
    details::Lanes lanes_{0};
};

inline thread_group tiled_partition(const thread_block&, unsigned size) {
    const unsigned first = warplab_cpu::lane() / size * size;
    return thread_group(unsigned(((uint64_t{1} << size) - 1) << first) & details::lanes_of_warp());
}

template <class Group>
void sync(const Group& group, warplab_cpu::Line line = {__builtin_LINE()}) {
    group.sync(line);
}

}  // namespace cooperative_groups

#endif
