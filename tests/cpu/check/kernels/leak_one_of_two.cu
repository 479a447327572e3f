// The partial results are freed, but the counter is not.
#include <cuda_runtime.h>

__global__ void sum_kernel(int* partial, unsigned* counter) {
    partial[blockIdx.x] = blockIdx.x;
    atomicAdd(counter, 1u);
}

int main() {
    int* partial;
    unsigned* counter;
    cudaMalloc(&partial, 8 * sizeof(int));
    cudaMallocManaged(&counter, sizeof(unsigned));  //! leak
    *counter = 0;
    sum_kernel<<<8, 1>>>(partial, counter);
    cudaDeviceSynchronize();
    cudaFree(partial);
    return cudaDeviceReset() != cudaSuccess;
}
