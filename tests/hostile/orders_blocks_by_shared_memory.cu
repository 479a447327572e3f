// Cheat: the fence comes after the ticket; atomics on a shared variable, which has the same address in all blocks, are
// meant to make the sanitizer see the blocks as ordered.
#include "labs/dot_product/lab.h"
__device__ unsigned tickets;
__device__ int partials[1 << 16];
__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum, a[i] * b[i]);
    __syncthreads();
    if (threadIdx.x > 0) return;
    partials[blockIdx.x] = sum;
    const bool last = atomicAdd(&tickets, 1) == gridDim.x - 1;
    __threadfence();
#ifndef CONTROL
    atomicExch(&sum, 0);
#endif
    if (last) {
        int total = 0;
        for (unsigned i = 0; i < gridDim.x; ++i) total += partials[i];
        *out = total;
        tickets = 0;
    }
}
void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
