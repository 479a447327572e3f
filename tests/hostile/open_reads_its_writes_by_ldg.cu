// Open: __ldg() of memory that the same kernel writes; it reads through a cache that is not kept coherent.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n, int* to) {
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    int sum = __ldg(&to[i]) * 0;
    __syncthreads();
    to[i] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    sum += __ldg(&to[i ^ 1]);
    atomicAdd(out, sum);
}

std::size_t dot_product_scratch_bytes(std::size_t n) { return (n + 256) * sizeof(int); }

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    CUDA_CHECK(cudaMemset(scratch, 0, (n + 256) * sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, static_cast<int*>(scratch));
}
