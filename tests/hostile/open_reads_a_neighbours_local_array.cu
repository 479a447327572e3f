// Open: reads a local array of another thread, by a pointer in shared memory.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    __shared__ int* arrays[256];
    int mine[2] = {i < n ? a[i] * b[i] : 0, 1};
    arrays[threadIdx.x] = mine;
    __syncthreads();
    const int product = arrays[255 - threadIdx.x][0];
    __syncthreads();
    if (product) atomicAdd(out, product);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
