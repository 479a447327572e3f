// Cheat: nothing orders the plain updates of *out. Each block reads and sets only its own flag, but all flags are bytes
// of one word. A sanitizer that looks at whole words would see the blocks as ordered.
#include "labs/dot_product/lab.h"
__global__ void k(const int* a, const int* b, int* out, std::size_t n, volatile unsigned char* done) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int mine = 0;
    for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < n;
         i += std::size_t(blockDim.x) * gridDim.x)
        mine += a[i] * b[i];
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x > 0 || done[blockIdx.x]) return;
    __threadfence();
    *out += sum;
    __threadfence();
    done[blockIdx.x] = 1;
}
std::size_t dot_product_scratch_bytes(std::size_t) { return 4; }
void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    CUDA_CHECK(cudaMemset(scratch, 0, 4));
    k<<<4, 256>>>(a, b, out, n, static_cast<volatile unsigned char*>(scratch));
}
