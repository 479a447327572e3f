// A filter of 7 weights does not fit where 5 were declared.
#include <cuda_runtime.h>

__constant__ float weights[5];

__global__ void weigh_kernel(float* out) { out[threadIdx.x] = weights[threadIdx.x]; }

int main() {
    const float values[7] = {1, 2, 3, 4, 3, 2, 1};
    float* out;
    cudaMalloc(&out, 5 * sizeof(float));
    cudaMemcpyToSymbol(weights, values, sizeof(values));  //! copy_size
    weigh_kernel<<<1, 5>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
