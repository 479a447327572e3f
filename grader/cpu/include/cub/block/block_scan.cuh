#pragma once

#include "../collective.h"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

/// Prefix sums and similar scans over the threads of the block.
template <class T, int DimX, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int DimY = 1, int DimZ = 1>
class BlockScan {
    static constexpr int threads = DimX * DimY * DimZ, warps = (threads + 31) / 32;
    using Line = warplab_cpu::Line;
    using Plus = warplab_details::Plus;

  public:
    struct alignas(16) TempStorage {
        T aggregates[warps], inclusive[threads];
    };
    explicit BlockScan(TempStorage& storage) : storage_(storage) {}

    template <class Operation>
    void InclusiveScan(T input, T& output, Operation operation, T& aggregate, Line line = {}) {
        output = scan(input, operation, aggregate, line);
    }
    template <class Operation>
    void InclusiveScan(T input, T& output, Operation operation, Line line = {}) {
        T aggregate;
        output = scan(input, operation, aggregate, line);
    }
    template <int items, class Operation>
    void InclusiveScan(T (&input)[items], T (&output)[items], Operation operation, Line line = {}) {
        T aggregate;
        scan_items<true>(input, output, operation, nullptr, aggregate, line);
    }
    template <class Operation>
    void ExclusiveScan(T input, T& output, T initial, Operation operation, T& aggregate, Line line = {}) {
        T inputs[1] = {input}, outputs[1];
        scan_items<false>(inputs, outputs, operation, &initial, aggregate, line);
        output = outputs[0];
    }
    template <class Operation>
    void ExclusiveScan(T input, T& output, T initial, Operation operation, Line line = {}) {
        T aggregate;
        ExclusiveScan(input, output, initial, operation, aggregate, line);
    }
    template <int items, class Operation>
    void ExclusiveScan(T (&input)[items], T (&output)[items], T initial, Operation operation, Line line = {}) {
        T aggregate;
        scan_items<false>(input, output, operation, &initial, aggregate, line);
    }
    void InclusiveSum(T input, T& output, Line line = {}) { InclusiveScan(input, output, Plus(), line); }
    void InclusiveSum(T input, T& output, T& aggregate, Line line = {}) {
        InclusiveScan(input, output, Plus(), aggregate, line);
    }
    template <int items>
    void InclusiveSum(T (&input)[items], T (&output)[items], Line line = {}) {
        InclusiveScan(input, output, Plus(), line);
    }
    template <int items>
    void InclusiveSum(T (&input)[items], T (&output)[items], T& aggregate, Line line = {}) {
        scan_items<true>(input, output, Plus(), nullptr, aggregate, line);
    }
    void ExclusiveSum(T input, T& output, Line line = {}) { ExclusiveScan(input, output, T{}, Plus(), line); }
    void ExclusiveSum(T input, T& output, T& aggregate, Line line = {}) {
        ExclusiveScan(input, output, T{}, Plus(), aggregate, line);
    }
    template <int items>
    void ExclusiveSum(T (&input)[items], T (&output)[items], Line line = {}) {
        ExclusiveScan(input, output, T{}, Plus(), line);
    }
    template <int items>
    void ExclusiveSum(T (&input)[items], T (&output)[items], T& aggregate, Line line = {}) {
        const T initial{};
        scan_items<false>(input, output, Plus(), &initial, aggregate, line);
    }

  private:
    template <class Operation>
    T scan(T input, Operation operation, T& aggregate, Line line) {
        const int thread = int(warplab_cpu::linear_thread()), warp = thread / 32;
        T result = warplab_details::scan_lanes<32>(input, operation, line);
        if (thread % 32 == 31 || thread == threads - 1) storage_.aggregates[warp] = result;
        __syncthreads(line);
        aggregate = storage_.aggregates[0];
        for (int i = 1; i < warps; ++i) {
            if (i == warp) result = operation(aggregate, result);
            aggregate = operation(aggregate, storage_.aggregates[i]);
        }
        return result;
    }
    /// `initial` precedes the first item; the aggregate does not include it.
    template <bool inclusive, int items, class Operation>
    void scan_items(T (&input)[items], T (&output)[items], Operation operation, const T* initial, T& aggregate,
                    Line line) {
        const int thread = int(warplab_cpu::linear_thread());
        storage_.inclusive[thread] = scan(warplab_details::reduce_items(input, operation), operation, aggregate, line);
        __syncthreads(line);
        bool any = initial || thread > 0;
        T before = initial ? *initial : input[0];
        if (thread > 0) {
            const T others = storage_.inclusive[thread - 1];
            before = initial ? operation(before, others) : others;
        }
        for (int i = 0; i < items; ++i) {
            const T next = any ? operation(before, input[i]) : input[i];
            output[i] = inclusive ? next : before;
            before = next;
            any = true;
        }
    }

    TempStorage& storage_;
};

}  // namespace cub
