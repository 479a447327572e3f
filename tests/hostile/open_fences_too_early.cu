// Open: the fence comes before the block adds to `total`, not between the addition and the ticket, so nothing orders a
// block's sum before its ticket. The last block also adds to `total`, which counts as reading the sums of the others.
#include "labs/dot_product/lab.h"
__device__ unsigned tickets;
__device__ int total;
__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum, a[i] * b[i]);
    __syncthreads();
    if (threadIdx.x > 0) return;
    __threadfence();
    atomicAdd(&total, sum);
    if (atomicAdd(&tickets, 1) == gridDim.x - 1) {  // the last block
        *out = total;
        total = 0;
        tickets = 0;
    }
}
void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
