// Wrong on purpose: the barrier between the steps of the tree is missing.
#include "labs/dot_product/lab.h"

__global__ void dot(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int sums[256];
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2)
        if (threadIdx.x % (2 * s) == 0) sums[threadIdx.x] += sums[threadIdx.x + s];
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    dot<<<(n + 255) / 256, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
