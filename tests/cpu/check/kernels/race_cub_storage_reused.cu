// CUB's collectives use one TempStorage twice, without a barrier in between.
#include <cub/cub.cuh>

constexpr int threads = 128, items = 2, bins = 16;

template <cub::BlockLoadAlgorithm algorithm>
__device__ void sum_tile(const int* x, int* sum) {
    using Load = cub::BlockLoad<int, threads, items, algorithm>;
    using Reduce = cub::BlockReduce<int, threads>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Reduce::TempStorage reduce;
    } storage;
    int mine[items];
    Load(storage.load).Load(x, mine);                  //! race
    const int all = Reduce(storage.reduce).Sum(mine);  //! race
    if (threadIdx.x == 0) atomicAdd(sum, all);
}

__global__ void load_kernel(const int* x, int* sum) { sum_tile<cub::BLOCK_LOAD_TRANSPOSE>(x, sum); }
__global__ void load_by_warps_kernel(const int* x, int* sum) { sum_tile<cub::BLOCK_LOAD_WARP_TRANSPOSE>(x, sum); }
__global__ void load_in_turns_kernel(const int* x, int* sum) {
    sum_tile<cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED>(x, sum);
}

__global__ void two_loads_kernel(const int* x, int* sum) {
    using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
    __shared__ typename Load::TempStorage storage;
    int a[items], b[items];
    Load(storage).Load(x, a, threads, 0);  //! race
    Load(storage).Load(x, b, threads, 0);  //! race
    atomicAdd(sum, a[0] * b[0]);
}

__global__ void private_storage_kernel(const int* x, int* sum) {
    using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
    int a[items], b[items];
    Load().Load(x, a);  //! race
    Load().Load(x, b);  //! race
    atomicAdd(sum, a[0] * b[0]);
}

__global__ void store_kernel(int* x, int* y) {
    using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    __shared__ typename Store::TempStorage storage;
    int a[items] = {1, 2}, b[items] = {3, 4};
    Store(storage).Store(x, a);           //! race
    Store(storage).Store(y, b, threads);  //! race
}

__global__ void histogram_kernel(const int* x, int* counts) {
    using Histogram = cub::BlockHistogram<int, threads, items, bins>;
    __shared__ typename Histogram::TempStorage storage;
    int mine[items] = {x[threadIdx.x] % bins, 1}, others[items] = {2, 3};
    Histogram(storage).InitHistogram(*reinterpret_cast<int(*)[bins]>(counts));
    __syncthreads();
    Histogram(storage).Composite(mine, *reinterpret_cast<int(*)[bins]>(counts));    //! race
    Histogram(storage).Composite(others, *reinterpret_cast<int(*)[bins]>(counts));  //! race
}

__global__ void load_before_histogram_kernel(const unsigned char* x, int* counts) {
    using Load = cub::BlockLoad<unsigned char, threads, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Histogram = cub::BlockHistogram<unsigned char, threads, 4, 256>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Histogram::TempStorage histogram;
    } storage;
    __shared__ int bins[256];
    unsigned char mine[4];
    Load(storage.load).Load(x, mine);                    //! race
    Histogram(storage.histogram).Histogram(mine, bins);  //! race
    __syncthreads();
    if (threadIdx.x == 0) counts[0] = bins[1];
}

int main() {
    int *x, *y, *sum;
    cudaMalloc(&x, threads * items * sizeof(int));
    cudaMalloc(&y, threads * items * sizeof(int));
    cudaMalloc(&sum, bins * sizeof(int));
    cudaMemset(x, 1, threads * items * sizeof(int));
    cudaMemset(sum, 0, bins * sizeof(int));
    load_kernel<<<1, threads>>>(x, sum);
    load_by_warps_kernel<<<1, threads>>>(x, sum);
    load_in_turns_kernel<<<1, threads>>>(x, sum);
    two_loads_kernel<<<1, threads>>>(x, sum);
    private_storage_kernel<<<1, threads>>>(x, sum);
    histogram_kernel<<<1, threads>>>(x, sum);
    load_before_histogram_kernel<<<1, threads>>>(reinterpret_cast<unsigned char*>(x), sum);
    store_kernel<<<1, threads>>>(x, y);
    return cudaDeviceSynchronize() != cudaSuccess;
}
