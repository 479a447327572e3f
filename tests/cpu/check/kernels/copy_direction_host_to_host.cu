// Source and destination are on the device, but the direction says host.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
    float *x, *y;
    cudaMalloc(&x, 64 * sizeof(float));
    cudaMalloc(&y, 64 * sizeof(float));
    fill_kernel<<<1, 64>>>(x);
    cudaMemcpy(y, x, 64 * sizeof(float), cudaMemcpyHostToHost);  //! copy_direction
    return cudaDeviceSynchronize() != cudaSuccess;
}
