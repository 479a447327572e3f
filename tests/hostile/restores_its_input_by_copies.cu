// Cheat: clears an input with cudaMemset and copies it back from its own memory.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    int* kept = nullptr;
    CUDA_CHECK(cudaMalloc(&kept, n * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(kept, a, n * sizeof(int), cudaMemcpyDeviceToDevice));
    CUDA_CHECK(cudaMemset(const_cast<int*>(a), 0, n * sizeof(int)));
    dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(kept, b, out, n);
    CUDA_CHECK(cudaMemcpy(const_cast<int*>(a), kept, n * sizeof(int), cudaMemcpyDeviceToDevice));
    CUDA_CHECK(cudaFree(kept));
}
