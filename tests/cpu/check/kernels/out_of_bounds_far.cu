// An index counted in bytes reaches far beyond the array.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* x, int pitch) {
    int row = blockIdx.x, column = threadIdx.x;
    x[row * pitch + column] = 1;  //! out_of_bounds
}

int main() {
    const int width = 64, height = 64;
    float* x;
    cudaMalloc(&x, width * height * sizeof(float));
    scale_kernel<<<height, width>>>(x, width * sizeof(float));
    return cudaDeviceSynchronize() != cudaSuccess;
}
