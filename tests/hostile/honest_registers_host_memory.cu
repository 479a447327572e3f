// Honest: registers an array of the host, which the kernel reads in place and a copy reads as well. The sanitizer must
// not take it for host memory that kernels cannot use.
#include <vector>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n, const int* signs,
                                   const int* copied) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i] * signs[i % 5000] * copied[i % 5000]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    std::vector<int> signs(5000, -1);
    const std::size_t bytes = signs.size() * sizeof(int);
    CUDA_CHECK(cudaHostRegister(signs.data(), bytes, cudaHostRegisterMapped));
    int *mapped, *copied;
    CUDA_CHECK(cudaHostGetDevicePointer(&mapped, signs.data(), 0));
    CUDA_CHECK(cudaMalloc(&copied, bytes));
    CUDA_CHECK(cudaMemcpyAsync(copied, signs.data(), bytes, cudaMemcpyHostToDevice));
    dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, mapped, copied);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaFree(copied));
    CUDA_CHECK(cudaHostUnregister(signs.data()));
}
