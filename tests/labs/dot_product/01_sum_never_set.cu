// Wrong on purpose: thread 0's four partial sums are never set to 0, although memory often happens to be 0.
#include "labs/dot_product/lab.h"

__global__ void dot(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int products[256];
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sums[4];
        for (int t = 0; t < 256; ++t) sums[t % 4] += products[t];
        atomicAdd(out, sums[0] + sums[1] + sums[2] + sums[3]);
    }
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    dot<<<(n + 255) / 256 + 1, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
