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

namespace warplab_details {

template <class Output, class T, int items, class Place>
void store_direct(Output to, T (&values)[items], Place place, int valid) {
    for (int i = 0; i < items; ++i)
        if (place(i) < valid) to[place(i)] = values[i];
}

}  // namespace warplab_details

// These functions store a thread's part of a tile, in the arrangements of LoadDirectBlocked and similar functions.
template <class T, int items, class Output>
void StoreDirectBlocked(int thread, Output to, T (&values)[items], int valid = 0x7fffffff) {
    warplab_details::store_direct(
        to, values, [thread](int i) { return thread * items + i; }, valid);
}
template <int threads, class T, int items, class Output>
void StoreDirectStriped(int thread, Output to, T (&values)[items], int valid = 0x7fffffff) {
    warplab_details::store_direct(
        to, values, [thread](int i) { return thread + i * threads; }, valid);
}
template <class T, int items, class Output>
void StoreDirectWarpStriped(int thread, Output to, T (&values)[items], int valid = 0x7fffffff) {
    warplab_details::store_direct(
        to, values, [thread](int i) { return thread / 32 * 32 * items + thread % 32 + i * 32; }, valid);
}
template <class T, int items>
void StoreDirectBlockedVectorized(int thread, T* to, T (&values)[items]) {
    StoreDirectBlocked(thread, to, values);
}

/// Stores the items of a tile, in the arrangements of BlockLoad.
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
