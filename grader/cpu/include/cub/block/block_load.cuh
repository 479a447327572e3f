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

/// Loads the items of a tile: `Items` consecutive ones for each thread, or striped, every DimX-th one.
template <class T, int DimX, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int DimY = 1, int DimZ = 1>
class BlockLoad {
    static constexpr int threads = DimX * DimY * DimZ;
    static constexpr bool exchanges = Algorithm >= BLOCK_LOAD_TRANSPOSE;
    using Exchange =
        std::conditional_t<exchanges,
                           warplab_details::Exchange<T, threads, Items, (Algorithm > BLOCK_LOAD_TRANSPOSE),
                                                     Algorithm == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED>,
                           warplab_details::NoExchange<T, threads, Items, Algorithm == BLOCK_LOAD_STRIPED>>;
    using Line = warplab_cpu::Line;

  public:
    using TempStorage = typename Exchange::TempStorage;
    BlockLoad() : storage_(warplab_details::private_storage<TempStorage>()) {}
    explicit BlockLoad(TempStorage& storage) : storage_(storage) {}

    template <class Input>
    void Load(Input from, T (&items)[Items], Line line = {}) {
        for (int i = 0; i < Items; ++i) items[i] = from[place(i)];
        Exchange::template move<true>(storage_, items, line);
    }
    template <class Input>
    void Load(Input from, T (&items)[Items], int valid, Line line = {}) {
        for (int i = 0; i < Items; ++i)
            if (place(i) < valid) items[i] = from[place(i)];
        Exchange::template move<true>(storage_, items, line);
    }
    template <class Input, class Default>
    void Load(Input from, T (&items)[Items], int valid, Default otherwise, Line line = {}) {
        for (int i = 0; i < Items; ++i) items[i] = place(i) < valid ? T(from[place(i)]) : T(otherwise);
        Exchange::template move<true>(storage_, items, line);
    }

  private:
    static int place(int i) { return Exchange::template place<true>(i); }

    TempStorage& storage_;
};

}  // namespace cub
