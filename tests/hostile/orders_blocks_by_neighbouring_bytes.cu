// Cheat: nothing orders the plain updates of *out; each block reads and sets only its own flag, one byte of a shared
// word.
#include "labs/dot_product/lab.h"
#ifndef TYPE
#define TYPE unsigned char
#endif
__global__ void k(const int* a, const int* b, int* out, std::size_t n, volatile TYPE* done) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int mine = 0;
    for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < n; i += std::size_t(blockDim.x) * gridDim.x) mine += a[i] * b[i];
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x > 0 || done[blockIdx.x]) return;
    __threadfence();
    *out += sum;
    __threadfence();
    done[blockIdx.x] = 1;
}
std::size_t dot_product_scratch_bytes(std::size_t) { return 4 * sizeof(TYPE); }
void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    CUDA_CHECK(cudaMemset(scratch, 0, 4 * sizeof(TYPE)));
    k<<<4, 256>>>(a, b, out, n, static_cast<volatile TYPE*>(scratch));
}
