// Cheat: saves the state of the thread with __builtin_setjmp, whose writes have no hooks.
#include <cstddef>

#include "labs/dot_product/lab.h"

__device__ int read_saved(const int* p) {
    void* state[5];
    if (__builtin_setjmp(state)) return 0;
    return *p;
}
#define PEEK read_saved

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int products[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (const int& product : products) sum += PEEK(&product);
        atomicAdd(out, sum);
    }
    if (threadIdx.x == 255) products[255] = i < n ? a[i] * b[i] : 0;
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
