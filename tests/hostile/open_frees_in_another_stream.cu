// Open: one stream frees memory that another stream uses, and does not wait for it.
#include "labs/dot_product/lab.h"

__global__ void products(const int* a, const int* b, int* to, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (i < n) to[i] = a[i] * b[i];
}
__global__ void sum(const int* from, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (i < n) atomicAdd(out, from[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    CUDA_CHECK(cudaDeviceSynchronize());
    cudaStream_t first, second;
    CUDA_CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    int* to;
    CUDA_CHECK(cudaMallocAsync(reinterpret_cast<void**>(&to), n * sizeof(int), second));
    products<<<blocks, 256, 0, first>>>(a, b, to, n);  // perhaps before it is allocated
    sum<<<blocks, 256, 0, first>>>(to, out, n);
    CUDA_CHECK(cudaFreeAsync(to, second));  // perhaps before both kernels
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaStreamDestroy(first));
    CUDA_CHECK(cudaStreamDestroy(second));
}
