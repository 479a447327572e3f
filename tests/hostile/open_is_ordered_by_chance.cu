// Open: blocks write different values to one word without an atomic, between two atomics on another word whose results
// they ignore. If blocks run one after the other, the atomics order them like a lock. The total does not depend on the
// order.
#include "labs/dot_product/lab.h"

__device__ unsigned turns;
__device__ int last_sum;

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int products[256];
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    if (threadIdx.x > 0) return;
    int sum = 0;
    for (unsigned k = 0; k < 256; ++k) sum += products[k];
    atomicAdd(&turns, 1);
    __threadfence();
    last_sum = sum;
    __threadfence();
    atomicAdd(&turns, 1);
    atomicAdd(out, sum);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
