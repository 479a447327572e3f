#pragma once

#include "../collective.h"

namespace cub {

enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

/// The reverse of BlockLoad.
template <class T, int DimX, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int DimY = 1, int DimZ = 1>
class BlockStore {
    static constexpr int threads = DimX * DimY * DimZ;

  public:
    struct TempStorage {};
    BlockStore() = default;
    explicit BlockStore(TempStorage&) {}

    template <class Output>
    void Store(Output to, T (&items)[Items], int valid = threads * Items) {
        for (int i = 0; i < Items; ++i)
            if (place(i) < valid) to[place(i)] = items[i];
    }

  private:
    static int place(int i) {
        const int thread = int(warplab_cpu::linear_thread());
        return Algorithm == BLOCK_STORE_STRIPED ? thread + i * threads : thread * Items + i;
    }
};

}  // namespace cub
