#pragma once

#include "../collective.h"

namespace cub {

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};

/// Items of a tile, `Items` in a row for each thread, or striped: every DimX-th.
template <class T, int DimX, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int DimY = 1, int DimZ = 1>
class BlockLoad {
    static constexpr int threads = DimX * DimY * DimZ;

  public:
    struct TempStorage {};
    BlockLoad() = default;
    explicit BlockLoad(TempStorage&) {}

    template <class Input>
    void Load(Input from, T (&items)[Items]) {
        for (int i = 0; i < Items; ++i) items[i] = from[place(i)];
    }
    template <class Input>
    void Load(Input from, T (&items)[Items], int valid) {
        for (int i = 0; i < Items; ++i)
            if (place(i) < valid) items[i] = from[place(i)];
    }
    template <class Input, class Default>
    void Load(Input from, T (&items)[Items], int valid, Default otherwise) {
        for (int i = 0; i < Items; ++i) items[i] = place(i) < valid ? T(from[place(i)]) : T(otherwise);
    }

  private:
    static int place(int i) {
        const int thread = int(warplab_cpu::linear_thread());
        return Algorithm == BLOCK_LOAD_STRIPED ? thread + i * threads : thread * Items + i;
    }
};

}  // namespace cub
