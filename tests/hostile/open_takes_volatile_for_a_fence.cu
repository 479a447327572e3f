// Open: the last block adds up what others wrote to volatile words, without any fence. Each block has read its word
// before, as it would read a flag.
#include "labs/dot_product/lab.h"

__device__ volatile int sums[4096];
__device__ unsigned done;

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (i < n) atomicAdd(&sum, a[i] * b[i]);
    __syncthreads();
    if (threadIdx.x > 0 || sums[blockIdx.x % 4096] == 0x7fffffff) return;
    sums[blockIdx.x % 4096] = sum;
    atomicAdd(out, sum);
    if (atomicInc(&done, gridDim.x - 1) < gridDim.x - 1) return;
    int total = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) total += sums[k % 4096];
    if (gridDim.x <= 4096) atomicExch(out, total);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
