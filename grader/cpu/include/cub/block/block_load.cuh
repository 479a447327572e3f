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

namespace warplab_details {

template <class Input, class T, int items, class Place>
void load_direct(Input from, T (&values)[items], Place place, int valid = 0x7fffffff) {
    for (int i = 0; i < items; ++i)
        if (place(i) < valid) values[i] = from[place(i)];
}
template <class Input, class T, int items, class Place, class Default>
void load_direct(Input from, T (&values)[items], Place place, int valid, Default otherwise) {
    for (int i = 0; i < items; ++i) values[i] = place(i) < valid ? T(from[place(i)]) : T(otherwise);
}

}  // namespace warplab_details

// These functions load a thread's part of a tile: consecutive items (Blocked), every threads-th item (Striped), or
// every 32nd item of the warp's part (WarpStriped). The bounds are the number of valid items and the value of the
// others.
template <class T, int items, class Input, class... Bounds>
void LoadDirectBlocked(int thread, Input from, T (&values)[items], Bounds... bounds) {
    warplab_details::load_direct(
        from, values, [thread](int i) { return thread * items + i; }, bounds...);
}
template <int threads, class T, int items, class Input, class... Bounds>
void LoadDirectStriped(int thread, Input from, T (&values)[items], Bounds... bounds) {
    warplab_details::load_direct(
        from, values, [thread](int i) { return thread + i * threads; }, bounds...);
}
template <class T, int items, class Input, class... Bounds>
void LoadDirectWarpStriped(int thread, Input from, T (&values)[items], Bounds... bounds) {
    warplab_details::load_direct(
        from, values, [thread](int i) { return thread / 32 * 32 * items + thread % 32 + i * 32; }, bounds...);
}
template <class T, int items>
void LoadDirectBlockedVectorized(int thread, T* from, T (&values)[items]) {
    LoadDirectBlocked(thread, from, values);
}

/// Loads the items of a tile: `Items` consecutive ones for each thread or, if striped, every threads-th item.
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
