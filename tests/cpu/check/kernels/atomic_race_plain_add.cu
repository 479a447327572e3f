// Block 0 adds to the total without an atomic.
#include <cuda_runtime.h>

__global__ void sum_kernel(float* total) {
    float sum = 0.5f * blockIdx.x + 1;
    if (blockIdx.x == 0) {
        *total += sum;  //! atomic_race
    } else {
        atomicAdd(total, sum);  //! atomic_race
    }
}

int main() {
    float* total;
    cudaMalloc(&total, sizeof(float));
    cudaMemset(total, 0, sizeof(float));
    sum_kernel<<<8, 1>>>(total);
    return cudaDeviceSynchronize() != cudaSuccess;
}
