// The result is copied with the direction of the previous copy.
#include <cuda_runtime.h>

__global__ void square_kernel(int* x) { x[threadIdx.x] *= x[threadIdx.x]; }

int main() {
    int host[32] = {1, 2, 3}, *x;
    cudaMalloc(&x, sizeof(host));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    square_kernel<<<1, 32>>>(x);
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyHostToDevice);  //! copy_direction
    return cudaDeviceSynchronize() != cudaSuccess;
}
