// Honest: atomics of 4 and of 8 bytes on the same shared memory, in phases that barriers separate.
#include "labs/image_histogram/lab.h"
__device__ unsigned long long most;  // the largest (count, bin) that a block has seen
__global__ void k(const unsigned char* p, unsigned* bins, size_t n) {
    extern __shared__ unsigned long long memory[];
    unsigned* const h = reinterpret_cast<unsigned*>(memory);
    for (int i = threadIdx.x; i < bin_count; i += blockDim.x) h[i] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        atomicAdd(&h[p[i]], 1u);
    __syncthreads();
    const unsigned mine = h[threadIdx.x];
    if (mine) atomicAdd(&bins[threadIdx.x], mine);
    __syncthreads();
    if (threadIdx.x == 0) memory[0] = 0;
    __syncthreads();
    atomicMax(&memory[0], (unsigned long long)mine << 32 | threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(&most, memory[0]);
}
void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void*) { CUDA_CHECK(cudaMemset(bins, 0, 1024)); if (n) k<<<64, 256, bin_count * sizeof(unsigned)>>>(pixels, bins, n); }
