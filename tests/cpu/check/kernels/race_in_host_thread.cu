// A host thread other than the first launches a kernel with a race.
#include <cuda_runtime.h>

#include <thread>

__global__ void reverse_kernel(int* x) {
    __shared__ int values[64];
    values[threadIdx.x] = x[threadIdx.x];       //! race
    x[threadIdx.x] = values[63 - threadIdx.x];  //! race
}

int main() {
    int* x;
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMemset(x, 0, 64 * sizeof(int));
    std::thread([=] { reverse_kernel<<<1, 64>>>(x); }).join();
    return cudaDeviceSynchronize() != cudaSuccess;
}
