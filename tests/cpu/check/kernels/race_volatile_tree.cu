// A tree over volatile memory without barriers: each thread reads its own sum before it writes it, but it also reads a
// sum that another thread may be writing at the same time.
#include <cuda_runtime.h>

__global__ void tree_kernel(volatile int* sums) {
    __shared__ volatile int shared_sums[128];
    shared_sums[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (unsigned half = 64; half > 0; half /= 2)
        if (threadIdx.x < half) shared_sums[threadIdx.x] += shared_sums[threadIdx.x + half];  //! race
    for (unsigned half = 64; half > 0; half /= 2)
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];  //! race
}

int main() {
    int* sums;
    cudaMalloc(&sums, 128 * sizeof(int));
    cudaMemset(sums, 0, 128 * sizeof(int));
    tree_kernel<<<1, 128>>>(sums);
    const bool failed = cudaDeviceSynchronize() != cudaSuccess;
    cudaFree(sums);
    return failed;
}
