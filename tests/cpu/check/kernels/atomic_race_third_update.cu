// All warps count. One thread of each warp reads the count: only the updates of its own warp come before the read.
#include <cuda_runtime.h>

__global__ void count_kernel(int* counts) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);  //! atomic_race
    __syncwarp();
    if (threadIdx.x % 32 == 0) counts[threadIdx.x / 32] = count;  //! atomic_race
}

int main() {
    int* counts;
    cudaMalloc(&counts, 4 * sizeof(int));
    count_kernel<<<1, 128>>>(counts);
    return cudaDeviceSynchronize() != cudaSuccess;
}
