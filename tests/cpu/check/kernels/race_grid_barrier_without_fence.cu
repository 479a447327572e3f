// A grid barrier by an atomic counter, without a fence: it does not order the blocks' results.
#include <cuda_runtime.h>

__device__ unsigned arrived;

__global__ void kernel(int* x, int* y) {
    x[blockIdx.x] = 1;  //! race
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < gridDim.x) {
    }
    y[blockIdx.x] = x[(blockIdx.x + 1) % gridDim.x];  //! race
}

int main() {
    int *x, *y;
    cudaMalloc(&x, 4 * sizeof(int));
    cudaMalloc(&y, 4 * sizeof(int));
    void* arguments[] = {&x, &y};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), 4, 1, arguments, 0, nullptr);
    return cudaDeviceSynchronize() != cudaSuccess;
}
