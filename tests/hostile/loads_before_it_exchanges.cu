// Cheat: an atomicMax that changes nothing comes before a thread's atomicCAS, to hide that the atomicCAS races with a
// plain read of another thread.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    __shared__ int word, other;
    if (threadIdx.x == 0) word = other = 0;
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&word, 0);
    __syncthreads();
    if (threadIdx.x == 0) atomicCAS(&word, 0, 5);
    if (threadIdx.x == 77) other = word;  // 0 or 5: a race
    __syncthreads();
    if (i < n) atomicAdd(out, a[i] * b[i] + (other == 12345));
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
