// Wrong on purpose: the shuffles begin at distance 8, so half of each warp is ignored.
#include "labs/dot_product/lab.h"

__device__ int warp_sum(int value) {
    for (int d = 8; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
    return value;
}

__global__ void dot(const int* a, const int* b, int* out, std::size_t n) {
    int sum = 0;
    std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) sum += a[i] * b[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    dot<<<64, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
