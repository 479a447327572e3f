// Wrong on purpose: halving 192 ends at 3, and one sum is dropped.
#include "labs/dot_product/lab.h"

#define THREADS 192

__global__ void dot(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int sums[THREADS];
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    dot<<<(n + THREADS - 1) / THREADS, THREADS>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
