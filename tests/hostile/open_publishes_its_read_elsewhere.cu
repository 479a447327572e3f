// Open: three blocks read a word, and the first of them signals this through a word that the writer ignores.
#include "labs/dot_product/lab.h"

__device__ unsigned came, ignored, published;
__device__ int word, seen[3];

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
    if (threadIdx.x > 0) return;
    const unsigned turn = atomicAdd(&came, 1);
    if (turn < 3) {
        seen[turn] = word;
        __threadfence();
        atomicAdd(turn == 0 ? &ignored : &published, 1);
    } else if (turn == 3) {
        while (atomicAdd(&published, 0) < 2) {
        }
        __threadfence();
        word = 7;
    }
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
