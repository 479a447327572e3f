// The last block compares and stores where the others use atomicMax.
#include <cuda_runtime.h>

__global__ void maximum_kernel(const int* values, int* best) {
    int value = values[blockIdx.x];
    if (blockIdx.x + 1 < gridDim.x) {
        atomicMax(best, value);  //! atomic_race
    } else {
        *best = *best > value ? *best : value;  //! atomic_race
    }
}

int main() {
    int host[16], *values, *best;
    for (int i = 0; i < 16; i++) host[i] = 100 + i;
    cudaMalloc(&values, sizeof(host));
    cudaMalloc(&best, sizeof(int));
    cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemset(best, 0, sizeof(int));
    maximum_kernel<<<16, 1>>>(values, best);
    return cudaDeviceSynchronize() != cudaSuccess;
}
