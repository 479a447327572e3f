#pragma once
// Common parts of CUB's collectives for blocks and warps.

#include <type_traits>

#include "../cuda/functional"
#include "../cuda_runtime.h"

namespace cub {

namespace warplab_details {

using warplab_cpu::Line;

struct Plus {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return a + b;
    }
};

/// Return the lanes of this thread's group of `size` lanes.
template <int size>
unsigned lanes_of_group() {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z, lane = warplab_cpu::lane();
    const unsigned left = threads - warplab_cpu::warp() * 32;
    const unsigned existing = left >= 32 ? 0xffffffffu : (1u << left) - 1;
    return unsigned(((uint64_t{1} << size) - 1) << lane / size * size) & existing;
}

/// Run `work(values, count)` once on the values of the group's lanes, in lane order. Return the value that `work` left
/// for this lane.
template <int size, class T, class Work>
T work_on_lanes(T value, Work work, Line line) {
    warplab_cpu::warp_combine(
        lanes_of_group<size>(), &value,
        [](void* const* places, unsigned count, void* context) {
            T values[32];
            for (unsigned i = 0; i < count; ++i)
                if (places[i]) values[i] = *static_cast<T*>(places[i]);
            (*static_cast<Work*>(context))(values, int(count));
            for (unsigned i = 0; i < count; ++i)
                if (places[i]) *static_cast<T*>(places[i]) = values[i];
        },
        &work, line);
    warplab_cpu::restore_thread();
    return value;
}

/// Combine the values of the first `count` lanes in the same order as a GPU. The first lane gets the result.
template <int size, class T, class Operation>
T reduce_lanes(T value, Operation operation, int count, Line line) {
    return work_on_lanes<size>(
        value,
        [&operation, count](T* values, int lanes) {
            const int end = count < lanes ? count : lanes;
            for (int step = 1; step < end; step *= 2)
                for (int i = 0; i + step < end; ++i) values[i] = operation(values[i], values[i + step]);
        },
        line);
}

template <int size, class T, class Operation>
T scan_lanes(T value, Operation operation, Line line) {
    return work_on_lanes<size>(
        value,
        [&operation](T* values, int count) {
            for (int step = 1; step < count; step *= 2)
                for (int i = count; i-- > step;) values[i] = operation(values[i - step], values[i]);
        },
        line);
}

template <class T, int items, class Operation>
T reduce_items(const T (&input)[items], Operation operation) {
    T result = input[0];
    for (int i = 1; i < items; ++i) result = operation(result, input[i]);
    return result;
}

/// The storage of a collective that was constructed without one. All collectives of the same type share it.
template <class TempStorage>
TempStorage& private_storage() {
    WARPLAB_CPU_SHARED warplab_cpu::Shared<TempStorage> storage;
    return storage.use("TempStorage", __LINE__);
}

/// Moves the items of a tile between two arrangements through shared memory: blocked (consecutive items in each
/// thread) and striped (consecutive items in consecutive threads), over the block or over each warp's part of the tile.
/// If the warps take turns, they share the storage.
template <class T, int threads, int items, bool by_warps, bool in_turns>
class Exchange {
    static constexpr int group = by_warps ? 32 : threads;
    static_assert(threads % group == 0, "this algorithm needs a block of whole warps");

  public:
    struct alignas(16) TempStorage {
        T values[(in_turns ? group : threads) * items];
    };

    /// Return the position in the tile of this thread's item `i`.
    template <bool striped>
    static int place(int i) {
        const int rank = int(warplab_cpu::linear_thread()) % group;
        return first() + (striped ? rank + i * group : rank * items + i);
    }
    /// As in CUB, there is no barrier at the end: a barrier is necessary before the next use of the storage.
    template <bool from_striped>
    static void move(TempStorage& storage, T (&values)[items], Line line) {
        if (!in_turns) return move_group<from_striped>(storage, values, 0, line);
        for (int begin = 0; begin < threads * items; begin += group * items) {
            if (begin) __syncthreads(line);
            if (first() == begin) move_group<from_striped>(storage, values, begin, line);
        }
    }

  private:
    static int first() { return int(warplab_cpu::linear_thread()) / group * group * items; }
    template <bool from_striped>
    static void move_group(TempStorage& storage, T (&values)[items], int begin, Line line) {
        for (int i = 0; i < items; ++i) storage.values[place<from_striped>(i) - begin] = values[i];
        if (by_warps)
            __syncwarp(0xffffffffu, line);
        else
            __syncthreads(line);
        for (int i = 0; i < items; ++i) values[i] = storage.values[place<!from_striped>(i) - begin];
    }
};

/// Used by algorithms that need no shared memory.
template <class T, int threads, int items, bool is_striped>
struct NoExchange {
    struct TempStorage {};
    template <bool>
    static int place(int i) {
        const int thread = int(warplab_cpu::linear_thread());
        return is_striped ? thread + i * threads : thread * items + i;
    }
    template <bool>
    static void move(TempStorage&, T (&)[items], Line) {}
};

}  // namespace warplab_details

struct NullType {};

// CUB has these only up to CUDA 12. Since CUDA 13, cuda::std::plus, cuda::maximum and cuda::minimum replace them.
using Sum = warplab_details::Plus;
struct Max {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return a < b ? b : a;
    }
};
struct Min {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return b < a ? b : a;
    }
};

}  // namespace cub
