// A kernel writes a constant from which it has cast away const.
#include <cuda_runtime.h>

__constant__ float weights[4];

__global__ void fill_kernel() {
    float* writable = const_cast<float*>(weights);
    writable[threadIdx.x] = 1;  //! constant_written
}

int main() {
    fill_kernel<<<1, 4>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
