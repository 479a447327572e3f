// Honest: all threads update bins and execute a fence; after a barrier, thread 0 releases the lock by a volatile store.
#include "labs/image_histogram/lab.h"
__device__ int lock;
__global__ void k(const unsigned char* p, unsigned* bins, size_t n) {
    __shared__ unsigned h[bin_count];
    for (int i = threadIdx.x; i < bin_count; i += blockDim.x) h[i] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) atomicAdd(&h[p[i]], 1u);
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) __nanosleep(100);
        __threadfence();
    }
    __syncthreads();
    for (int i = threadIdx.x; i < bin_count; i += blockDim.x) bins[i] += h[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *(volatile int*)&lock = 0;
}
void image_histogram(const unsigned char* pixels, unsigned* bins, std::size_t n, void*) { CUDA_CHECK(cudaMemset(bins, 0, 1024)); if (n) k<<<64, 256>>>(pixels, bins, n); }
