// Honest: blocks take turns; each reads the turn by atomicMax(turn, 0), fences, and passes it on by atomicCAS().
#include "labs/dot_product/lab.h"
__global__ void k(const int* a, const int* b, int* out, std::size_t n, int* turn, int* running) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int mine = 0;
    for (std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; i < n; i += std::size_t(blockDim.x) * gridDim.x) mine += a[i] * b[i];
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x > 0) return;
    const int block = static_cast<int>(blockIdx.x);
    while (atomicMax(turn, 0) != block) __nanosleep(20);  // all blocks are resident
    __threadfence();
    *running += sum;
    if (block == static_cast<int>(gridDim.x) - 1) *out = *running;
    __threadfence();
    atomicCAS(turn, block, block + 1);
}
std::size_t dot_product_scratch_bytes(std::size_t) { return 2 * sizeof(int); }
void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    CUDA_CHECK(cudaMemset(scratch, 0, 2 * sizeof(int)));
    int *turn = static_cast<int*>(scratch), *running = turn + 1;
    void* args[] = {&a, &b, &out, &n, &turn, &running};
    CUDA_CHECK(cudaLaunchCooperativeKernel((void*)k, dim3(8), dim3(256), args, 0, 0));
}
