// All threads store different values to one place.
#include <cuda_runtime.h>

__global__ void last_kernel(int* last) {
    *last = blockIdx.x * blockDim.x + threadIdx.x;  //! race
}

int main() {
    int* last;
    cudaMalloc(&last, sizeof(int));
    last_kernel<<<2, 64>>>(last);
    return cudaDeviceSynchronize() != cudaSuccess;
}
