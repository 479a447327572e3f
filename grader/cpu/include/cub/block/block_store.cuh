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
    static constexpr bool exchanges = Algorithm >= BLOCK_STORE_TRANSPOSE;
    using Exchange =
        std::conditional_t<exchanges,
                           warplab_details::Exchange<T, threads, Items, (Algorithm > BLOCK_STORE_TRANSPOSE),
                                                     Algorithm == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>,
                           warplab_details::NoExchange<T, threads, Items, Algorithm == BLOCK_STORE_STRIPED>>;

  public:
    using TempStorage = typename Exchange::TempStorage;
    BlockStore() : storage_(warplab_details::private_storage<TempStorage>()) {}
    explicit BlockStore(TempStorage& storage) : storage_(storage) {}

    template <class Output>
    void Store(Output to, T (&items)[Items], int valid = threads * Items, warplab_cpu::Line line = {}) {
        Exchange::template move<false>(storage_, items, line);
        for (int i = 0; i < Items; ++i)
            if (place(i) < valid) to[place(i)] = items[i];
    }

  private:
    static int place(int i) { return Exchange::template place<true>(i); }

    TempStorage& storage_;
};

}  // namespace cub
