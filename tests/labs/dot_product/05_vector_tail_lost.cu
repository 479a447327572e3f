// Wrong on purpose: the products after the last whole vector of four are left out.
#include "labs/dot_product/lab.h"

__device__ int warp_sum(int value) {
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
    return value;
}

__global__ void dot(const int4* a, const int4* b, int* out, std::size_t vectors) {
    int sum = 0;
    std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < vectors; i += threads) {
        int4 x = a[i], y = b[i];
        sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    dot<<<64, 256>>>((const int4*)a, (const int4*)b, out, n / 4);
    CUDA_CHECK(cudaGetLastError());
}
