// A copy from a device variable in one stream does not wait for the kernel in another stream that writes the variable.
#include <cuda_runtime.h>

__device__ int total;

__global__ void sum_kernel() {
    atomicAdd(&total, threadIdx.x);  //! unfinished
}

int main() {
    int* result;
    cudaStream_t one, other;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaMalloc(&result, sizeof(int));
    sum_kernel<<<1, 64, 0, one>>>();
    cudaMemcpyFromSymbolAsync(result, total, sizeof(int), 0, cudaMemcpyDeviceToDevice, other);  //! unfinished
    return cudaDeviceSynchronize() != cudaSuccess;
}
