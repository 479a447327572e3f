#pragma once

#include "../collective.h"

namespace cub {

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

/// Counts the items of all threads of the block.
template <class T, int DimX, int Items, int Bins, BlockHistogramAlgorithm Algorithm = BLOCK_HISTO_SORT, int DimY = 1,
          int DimZ = 1>
class BlockHistogram {
    static constexpr int threads = DimX * DimY * DimZ;
    static constexpr bool sorts = Algorithm == BLOCK_HISTO_SORT;
    using Line = warplab_cpu::Line;

  public:
    /// CUB uses storage to sort, but not for atomics.
    struct alignas(16) TempStorage {
        unsigned counts[sorts ? Bins : 1];
    };
    explicit BlockHistogram(TempStorage& storage) : storage_(storage) {}

    template <class Counter>
    void InitHistogram(Counter (&histogram)[Bins]) {
        for (int bin = int(warplab_cpu::linear_thread()); bin < Bins; bin += threads) histogram[bin] = 0;
    }
    template <class Counter>
    void Composite(T (&items)[Items], Counter (&histogram)[Bins], Line line = {}) {
        if (sorts) {
            clear_storage();
            __syncthreads(line);
        }
        add(items, histogram, line);
    }
    template <class Counter>
    void Histogram(T (&items)[Items], Counter (&histogram)[Bins], Line line = {}) {
        InitHistogram(histogram);
        if (sorts) clear_storage();
        __syncthreads(line);
        add(items, histogram, line);
    }

  private:
    /// Clear the storage. The thread that reads a bin at the end is not the one that clears it, so that the sanitizer
    /// finds a missing barrier before the next use of the storage.
    void clear_storage() {
        for (int bin = threads - 1 - int(warplab_cpu::linear_thread()); bin < Bins; bin += threads)
            storage_.counts[bin] = 0;
    }
    /// As in CUB, each thread adds to its own bins, unless all threads add by atomics.
    template <class Counter>
    void add(T (&items)[Items], Counter (&histogram)[Bins], Line line) {
        if (!sorts) {
            for (int i = 0; i < Items; ++i) atomicAdd(&histogram[items[i]], Counter(1));
            return;
        }
        for (int i = 0; i < Items; ++i) atomicAdd(&storage_.counts[items[i]], 1u);
        __syncthreads(line);
        for (int bin = int(warplab_cpu::linear_thread()); bin < Bins; bin += threads)
            histogram[bin] += Counter(storage_.counts[bin]);
    }

    TempStorage& storage_;
};

}  // namespace cub
