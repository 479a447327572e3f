// The kernel writes its result to an array that the host allocated with new[].
#include <cuda_runtime.h>

__global__ void fill_kernel(float* out) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1.5f;  //! host_memory
}

int main() {
    float* out = new float[256];
    fill_kernel<<<4, 64>>>(out);
    cudaError_t error = cudaDeviceSynchronize();
    delete[] out;
    return error != cudaSuccess;
}
