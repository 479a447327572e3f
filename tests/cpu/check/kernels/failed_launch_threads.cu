// 2048 threads are too many for one block, and the host ignores the error.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* x) { x[threadIdx.x] = 1; }

int main() {
    float* x;
    cudaMalloc(&x, 2048 * sizeof(float));
    fill_kernel<<<1, 2048>>>(x);  //! failed_launch
    return cudaDeviceSynchronize() != cudaSuccess;
}
