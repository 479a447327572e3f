// Open: reads managed memory that was never written.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n, const volatile int* never) {
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * never[threadIdx.x]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    int* never;
    CUDA_CHECK(cudaMallocManaged(&never, 256 * sizeof(int)));
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, never);
    CUDA_CHECK(cudaFree(never));
}
