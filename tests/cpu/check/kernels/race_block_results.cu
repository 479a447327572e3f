// Block 0 sums what the other blocks write in the same launch.
#include <cuda_runtime.h>

__global__ void sum_kernel(int* partials, int* total) {
    if (threadIdx.x == 0) partials[blockIdx.x] = blockIdx.x + 7;  //! race
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += partials[b];  //! race
        *total = sum;
    }
}

int main() {
    int *partials, *total;
    cudaMalloc(&partials, 8 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(partials, 0, 8 * sizeof(int));
    sum_kernel<<<8, 32>>>(partials, total);
    return cudaDeviceSynchronize() != cudaSuccess;
}
