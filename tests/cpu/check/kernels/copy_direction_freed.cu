// Results are copied from freed memory, and a part of it is cleared.
#include <cuda_runtime.h>

__global__ void square_kernel(float* x) { x[threadIdx.x] *= x[threadIdx.x]; }

int main() {
    float host[64] = {}, *x, *other;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    square_kernel<<<1, 64>>>(x);
    cudaFree(x);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);  //! copy_direction
    cudaMemset(x + 8, 0, 32);                                  //! copy_direction
    cudaMalloc(&other, sizeof host);
    cudaMemcpy(other, host, sizeof host, cudaMemcpyHostToDevice);
    cudaFree(other);
    return 0;
}
