// CUB's collectives for blocks and warps.

#include <cub/cub.cuh>
#include <cuda/functional>

#include "checks.h"

constexpr int threads = 96, items = 3;

__global__ void reduce_kernel(int* wrong) {
    using Reduce = cub::BlockReduce<int, threads>;
    using Warp = cub::WarpReduce<int>;
    using Eight = cub::WarpReduce<int, 8>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ typename Warp::TempStorage warp_storage[threads / 32];
    __shared__ typename Eight::TempStorage eight_storage[threads / 8];
    const int t = threadIdx.x;
    const int sum = Reduce(storage).Sum(t);
    __syncthreads();
    const int maximum = Reduce(storage).Reduce(t * 7 % 101, cuda::maximum<>{});
    __syncthreads();
    const int part = Reduce(storage).Sum(1, 50);
    __syncthreads();
    int mine[items] = {t, 1, 1};
    const int all = Reduce(storage).Sum(mine);
    int largest = 0;
    for (int i = 0; i < threads; ++i) largest = max(largest, i * 7 % 101);
    const int expected = threads * (threads - 1) / 2;
    int bad = t == 0 && (sum != expected || maximum != largest || part != 50 || all != expected + 2 * threads);
    const int of_warp = Warp(warp_storage[t / 32]).Sum(t), of_eight = Eight(eight_storage[t / 8]).Sum(t);
    bad += t % 32 == 0 && of_warp != 32 * t + 31 * 16;
    bad += t % 8 == 0 && of_eight != 8 * t + 28;
    wrong[t] = bad;
}

__global__ void scan_kernel(int* wrong) {
    using Scan = cub::BlockScan<int, threads>;
    using Warp = cub::WarpScan<int>;
    __shared__ typename Scan::TempStorage storage;
    __shared__ typename Warp::TempStorage warp_storage[threads / 32];
    const int t = threadIdx.x;
    int out, total;
    Scan(storage).ExclusiveSum(t, out, total);
    int bad = out != t * (t - 1) / 2 || total != threads * (threads - 1) / 2;
    __syncthreads();
    Scan(storage).InclusiveSum(2, out);
    bad += out != 2 * (t + 1);
    __syncthreads();
    Scan(storage).ExclusiveScan(t, out, -5, cuda::maximum<>{});
    bad += out != (t ? t - 1 : -5);
    __syncthreads();
    int in[items] = {1, 2, 3}, prefix[items];
    Scan(storage).ExclusiveSum(in, prefix, total);
    bad += prefix[0] != 6 * t || prefix[1] != 6 * t + 1 || prefix[2] != 6 * t + 3 || total != 6 * threads;
    __syncthreads();
    Scan(storage).InclusiveSum(in, prefix);
    bad += prefix[0] != 6 * t + 1 || prefix[1] != 6 * t + 3 || prefix[2] != 6 * t + 6;
    Warp(warp_storage[t / 32]).ExclusiveSum(1, out, total);
    bad += out != t % 32 || total != 32;
    Warp(warp_storage[t / 32]).InclusiveSum(t, out);
    bad += out != (t % 32 + 1) * (t / 32 * 32 + t) / 2;
    wrong[t] = bad;
}

__global__ void tile_kernel(const int* in, int* out, unsigned* histogram, int n) {
    using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_STRIPED>;
    using Histogram = cub::BlockHistogram<unsigned char, threads, items, 8>;
    __shared__ typename Load::TempStorage load_storage;
    __shared__ typename Store::TempStorage store_storage;
    __shared__ typename Histogram::TempStorage histogram_storage;
    __shared__ unsigned counts[8];
    int mine[items];
    Load(load_storage).Load(in, mine, n, -1);
    unsigned char bins[items];
    for (int i = 0; i < items; ++i) bins[i] = static_cast<unsigned char>(mine[i] & 7);
    Histogram(histogram_storage).Histogram(bins, counts);
    Store(store_storage).Store(out, mine, n);
    __syncthreads();
    if (threadIdx.x < 8) histogram[threadIdx.x] = counts[threadIdx.x];
}

__global__ void direct_kernel(const int* in, int* out, int* wrong, int n) {
    const int t = threadIdx.x, warp = t / 32 * 32 * items, lane = t % 32;
    int blocked[items], striped[items], by_warps[items];
    cub::LoadDirectBlocked(t, in, blocked, n, -1);
    cub::LoadDirectStriped<threads>(t, in, striped, n, -1);
    cub::LoadDirectWarpStriped(t, in, by_warps, n, -1);
    int bad = 0;
    for (int i = 0; i < items; ++i) {
        const int places[] = {t * items + i, t + i * threads, warp + lane + i * 32};
        const int loaded[] = {blocked[i], striped[i], by_warps[i]};
        for (int k = 0; k < 3; ++k) bad += loaded[k] != (places[k] < n ? in[places[k]] : -1);
    }
    wrong[t] = bad;
    cub::StoreDirectStriped<threads>(t, out, striped, n);
}

int main(int count, char** arguments) {
    use_arguments(count, arguments);
    int* wrong = on_device(std::vector<int>(threads, -1));
    reduce_kernel<<<1, threads>>>(wrong);
    for (const int value : from_device(wrong, threads)) CHECK_EQUAL(value, 0);
    scan_kernel<<<1, threads>>>(wrong);
    for (const int value : from_device(wrong, threads)) CHECK_EQUAL(value, 0);
    const int n = threads * items - 4;
    std::vector<int> in(n);
    for (int i = 0; i < n; ++i) in[i] = i;
    int* out = on_device(std::vector<int>(n, -9));
    unsigned* histogram = on_device(std::vector<unsigned>(8, 0));
    tile_kernel<<<1, threads>>>(on_device(in), out, histogram, n);
    const auto stored = from_device(out, n);
    for (int t = 0; t < threads; ++t)
        for (int i = 0; i < items; ++i)
            if (t + i * threads < n) CHECK_EQUAL(stored[t + i * threads], t * items + i < n ? t * items + i : -1);
    const auto bins = from_device(histogram, 8);
    for (unsigned bin = 0; bin < 8; ++bin) CHECK_EQUAL(bins[bin], bin == 7 ? 39u : bin < 4 ? 36u : 35u);
    int* copy = on_device(std::vector<int>(n, -9));
    direct_kernel<<<1, threads>>>(on_device(in), copy, wrong, n);
    for (const int value : from_device(wrong, threads)) CHECK_EQUAL(value, 0);
    const auto copied = from_device(copy, n);
    for (int i = 0; i < n; ++i) CHECK_EQUAL(copied[i], in[i]);
    return wrong_checks != 0;
}
