// Open: a lock with a fence only before the unlock. A later owner may read an old `total`, from its L1 cache or by
// a load that the compiler moved up.
#include "labs/dot_product/lab.h"
__device__ int locked;
__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum, a[i] * b[i]);
    __syncthreads();
    if (threadIdx.x > 0) return;
    while (atomicCAS(&locked, 0, 1) != 0) {
    }
    *out += sum;
    __threadfence();
    atomicExch(&locked, 0);
}
void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
