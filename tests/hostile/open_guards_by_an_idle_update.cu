// Open: reads a total too early, and then adds 0 to it, as if an atomic verified an earlier read.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    __shared__ int sum, count;
    if (threadIdx.x == 0) sum = count = 0;
    __syncthreads();
    if (i < n) atomicAdd(&sum, a[i] * b[i]);
    if (atomicAdd(&count, 1) < 255) return;
    const int total = sum;
    atomicAdd(&sum, 0);
    atomicAdd(out, total);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
