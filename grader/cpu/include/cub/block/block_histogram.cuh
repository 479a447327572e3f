#pragma once

#include "../collective.h"

namespace cub {

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

/// Counts the items of all threads of the block.
template <class T, int DimX, int Items, int Bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int DimY = 1,
          int DimZ = 1>
class BlockHistogram {
    static constexpr int threads = DimX * DimY * DimZ;

  public:
    struct TempStorage {};
    explicit BlockHistogram(TempStorage&) {}

    template <class Counter>
    void InitHistogram(Counter (&histogram)[Bins]) {
        for (int bin = int(warplab_cpu::linear_thread()); bin < Bins; bin += threads) histogram[bin] = 0;
    }
    template <class Counter>
    void Composite(T (&items)[Items], Counter (&histogram)[Bins]) {
        for (int i = 0; i < Items; ++i) atomicAdd(&histogram[items[i]], Counter(1));
    }
    template <class Counter>
    void Histogram(T (&items)[Items], Counter (&histogram)[Bins], warplab_cpu::Line line = {__builtin_LINE()}) {
        InitHistogram(histogram);
        __syncthreads(line);
        Composite(items, histogram);
    }
};

}  // namespace cub
