#pragma once

#include "../collective.h"

namespace cub {

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS,
    BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC
};

/// Combines the values of the block's threads. Thread 0 has the result.
template <class T, int DimX, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int DimY = 1, int DimZ = 1>
class BlockReduce {
    static constexpr int threads = DimX * DimY * DimZ, warps = (threads + 31) / 32;

  public:
    struct alignas(16) TempStorage {
        T aggregates[warps];
    };
    explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

    template <class Operation>
    T Reduce(T input, Operation operation, int valid, warplab_cpu::Line line = {}) {
        const int thread = int(warplab_cpu::linear_thread()), warp = thread / 32;
        const T warp_result = warplab_details::reduce_lanes<32>(input, operation, valid - warp * 32, line);
        if (thread % 32 == 0) storage_.aggregates[warp] = warp_result;
        __syncthreads(line);
        T result = warp_result;
        if (thread == 0)
            for (int i = 1; i * 32 < valid; ++i) result = operation(result, storage_.aggregates[i]);
        return result;
    }
    template <class Operation>
    T Reduce(T input, Operation operation, warplab_cpu::Line line = {}) {
        return Reduce(input, operation, threads, line);
    }
    template <int items, class Operation>
    T Reduce(T (&input)[items], Operation operation, warplab_cpu::Line line = {}) {
        return Reduce(warplab_details::reduce_items(input, operation), operation, threads, line);
    }
    T Sum(T input, warplab_cpu::Line line = {}) { return Reduce(input, warplab_details::Plus(), threads, line); }
    T Sum(T input, int valid, warplab_cpu::Line line = {}) {
        return Reduce(input, warplab_details::Plus(), valid, line);
    }
    template <int items>
    T Sum(T (&input)[items], warplab_cpu::Line line = {}) {
        return Reduce(input, warplab_details::Plus(), line);
    }

  private:
    TempStorage& storage_;
};

}  // namespace cub
