// Wrong on purpose: totals on the device are not reset to 0 for the next call.
#include "labs/image_histogram/lab.h"

__device__ unsigned totals[256], finished;

__global__ void count(const unsigned char* pixels, unsigned* bins, std::size_t n) {
    __shared__ bool is_last;
    std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (i < n) atomicAdd(&totals[pixels[i]], 1u);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) bins[threadIdx.x] = totals[threadIdx.x];
}

void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void*) {
    count<<<(n + 256) / 256, 256>>>(pixels, bins, n);
    CUDA_CHECK(cudaGetLastError());
}
