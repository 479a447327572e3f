// Wrong on purpose: thread 0 does not wait for the other threads' products.
#include "labs/dot_product/lab.h"

__global__ void dot(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int products[256];
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int t = 0; t < 256; ++t) sum += products[t];
        atomicAdd(out, sum);
    }
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    dot<<<(n + 255) / 256, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
