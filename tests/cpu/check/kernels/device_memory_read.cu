// The host reads the result without copying it.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void sum_kernel(int* sum) { atomicAdd(sum, static_cast<int>(threadIdx.x)); }

int main() {
    int* sum;
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    sum_kernel<<<1, 32>>>(sum);
    cudaDeviceSynchronize();
    printf("%d\n", *sum);  //! device_memory
    return 0;
}
