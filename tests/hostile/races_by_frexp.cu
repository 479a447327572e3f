// Cheat: a race in which a math function of the C library writes its integer result.
#include <cmath>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int products[256];
    __shared__ int part;
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    if (threadIdx.x == 0) part = 2;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (const int product : products) sum += product + static_cast<int>(part) - 2;
        atomicAdd(out, sum);
    }
    if (threadIdx.x == 255)
        std::frexp(2.0f + static_cast<float>(blockDim.x / 256), &part);  // writes the 2 that thread 0 reads
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
