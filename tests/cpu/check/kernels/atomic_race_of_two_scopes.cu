// Block 2 counts with atomics whose scope is the block, the others with atomics for the whole GPU.
#include <cuda_runtime.h>

__global__ void count_kernel(int* count) {
    if (blockIdx.x == 2)
        atomicAdd_block(count, 1);  //! atomic_race
    else
        atomicAdd(count, 1);  //! atomic_race
}

int main() {
    int* count;
    cudaMalloc(&count, sizeof(int));
    cudaMemset(count, 0, sizeof(int));
    count_kernel<<<5, 64>>>(count);
    return cudaDeviceSynchronize() != cudaSuccess;
}
