// Open: a thread executes so many fences that the sanitizer stops counting them, and writes after it has published.
#include "labs/dot_product/lab.h"

__device__ unsigned came, published;
__device__ int word, never;

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
    if (threadIdx.x > 0) return;
    if (atomicAdd(&came, 1) == 0) {
        for (int k = 0; k < 1100000; ++k) __threadfence_block();
        __threadfence();
        atomicExch(&published, 1);
        word = 5;
    } else if (atomicAdd(&published, 0)) {
        __threadfence();
        if (word == 77) never = 1;
    }
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
