// CUB's collectives: a barrier before each reuse of a TempStorage, and none if nothing is shared.
#include <cstdio>
#include <cub/cub.cuh>

constexpr int threads = 128, items = 5, bins = 16, tile = threads * items;

template <cub::BlockLoadAlgorithm loads, cub::BlockStoreAlgorithm stores>
__device__ void copy_tile(const int* x, int* y, int valid) {
    using Load = cub::BlockLoad<int, threads, items, loads>;
    using Store = cub::BlockStore<int, threads, items, stores>;
    using Scan = cub::BlockScan<int, threads>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
    } storage;
    int mine[items];
    for (int twice = 0; twice < 2; ++twice) {
        Load(storage.load).Load(x, mine, valid, 0);
        __syncthreads();
        Scan(storage.scan).InclusiveSum(mine, mine);
        __syncthreads();
        Store(storage.store).Store(y, mine, valid);
        __syncthreads();
    }
}

__global__ void transpose_kernel(const int* x, int* y, int valid) {
    copy_tile<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>(x, y, valid);
}
__global__ void by_warps_kernel(const int* x, int* y, int valid) {
    copy_tile<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(x, y, valid);
}
__global__ void in_turns_kernel(const int* x, int* y, int valid) {
    copy_tile<cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED, cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(x, y, valid);
}
__global__ void direct_kernel(const int* x, int* y, int valid) {
    copy_tile<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_VECTORIZE>(x, y, valid);
}

__global__ void direct_twice_kernel(const int* x, int* y) {
    using Load = cub::BlockLoad<int, threads, items>;
    using Warp = cub::WarpReduce<int>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Warp::TempStorage warps[threads / 32];
    } storage;
    int a[items], b[items];
    Load(storage.load).Load(x, a);
    Load(storage.load).Load(x, b);
    const int sum = Warp(storage.warps[threadIdx.x / 32]).Sum(a[0] - b[0]);
    const int again = Warp(storage.warps[threadIdx.x / 32]).Sum(a[1] - b[1]);
    if (threadIdx.x % 32 == 0 && sum + again) y[0] = -1;
}

template <cub::BlockHistogramAlgorithm algorithm>
__device__ void count_bins(const int* x, int* counts) {
    using Histogram = cub::BlockHistogram<int, threads, 1, bins, algorithm>;
    __shared__ typename Histogram::TempStorage storage;
    __shared__ int histogram[bins];
    int mine[1] = {x[threadIdx.x] % bins};
    Histogram(storage).Histogram(mine, histogram);
    __syncthreads();
    Histogram(storage).Composite(mine, histogram);
    __syncthreads();
    if (threadIdx.x < bins) counts[threadIdx.x] = histogram[threadIdx.x];
}
__global__ void sort_kernel(const int* x, int* counts) { count_bins<cub::BLOCK_HISTO_SORT>(x, counts); }
__global__ void atomic_kernel(const int* x, int* counts) { count_bins<cub::BLOCK_HISTO_ATOMIC>(x, counts); }

int main() {
    int *x, *y, values[tile], sums[tile], counts[bins], wrong = 0;
    for (int i = 0; i < tile; ++i) values[i] = i;
    cudaMalloc(&x, sizeof values);
    cudaMalloc(&y, sizeof values);
    cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
    for (const auto kernel : {transpose_kernel, by_warps_kernel, in_turns_kernel, direct_kernel}) {
        cudaMemset(y, 0, sizeof values);
        kernel<<<1, threads>>>(x, y, tile - 3);
        cudaMemcpy(sums, y, sizeof sums, cudaMemcpyDeviceToHost);
        for (int i = 0; i < tile; ++i) wrong += sums[i] != (i < tile - 3 ? i * (i + 1) / 2 : 0);
    }
    direct_twice_kernel<<<1, threads>>>(x, y);
    cudaMemcpy(sums, y, sizeof(int), cudaMemcpyDeviceToHost);
    wrong += sums[0] != 0;
    for (const auto kernel : {sort_kernel, atomic_kernel}) {
        kernel<<<1, threads>>>(x, y);
        cudaMemcpy(counts, y, sizeof counts, cudaMemcpyDeviceToHost);
        for (const int count : counts) wrong += count != 2 * threads / bins;
    }
    cudaFree(x);
    cudaFree(y);
    std::puts(wrong == 0 ? "ok" : "wrong");
}
