// Every round allocates memory, but only the memory of the last round is freed.
#include <cuda_runtime.h>

__global__ void count_kernel(int* count) { atomicAdd(count, 1); }

int main() {
    int* count = nullptr;
    for (int round = 0; round < 3; round++) {
        cudaMalloc(&count, sizeof(int));  //! leak
        cudaMemset(count, 0, sizeof(int));
        count_kernel<<<2, 32>>>(count);
    }
    cudaFree(count);
    return cudaDeviceReset() != cudaSuccess;
}
