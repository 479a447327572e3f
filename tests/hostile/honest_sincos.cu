// Honest: each thread writes its own element with sincosf, and thread 0 reads all elements after a barrier.
#include <cmath>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int products[256];
    __shared__ float parts[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    float sine;
    sincosf(static_cast<float>(threadIdx.x), &sine, &parts[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int t = 0; t < 256; ++t) sum += products[t] + (parts[t] > 1);
        atomicAdd(out, sum);
    }
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
