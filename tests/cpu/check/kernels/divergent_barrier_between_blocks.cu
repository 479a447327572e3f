// Two threads wait at different barriers. One of them first waits for another block, which has its own barriers.
#include <cuda_runtime.h>

__global__ void meet_kernel(unsigned* ready, int* y) {
    if (blockIdx.x == 1) {
        __syncthreads();
        if (threadIdx.x == 0) atomicAdd(ready, 1);
    } else if (threadIdx.x == 0) {
        __syncthreads();  //! divergent_barrier
    } else {
        while (atomicAdd(ready, 0) == 0) {
        }
        __syncthreads();  //! divergent_barrier
    }
    y[blockIdx.x * 2 + threadIdx.x] = 1;
}

int main() {
    unsigned* ready;
    int* y;
    cudaMalloc(&ready, sizeof(unsigned));
    cudaMalloc(&y, 4 * sizeof(int));
    cudaMemset(ready, 0, sizeof(unsigned));
    void* arguments[] = {&ready, &y};
    cudaLaunchCooperativeKernel((void*)meet_kernel, dim3(2), dim3(2), arguments, 0, 0);
    return cudaDeviceSynchronize() != cudaSuccess;
}
