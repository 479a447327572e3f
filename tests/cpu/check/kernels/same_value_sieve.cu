// Multiples of several numbers are crossed out more than once.
#include <cuda_runtime.h>

__global__ void sieve_kernel(unsigned char* composite, int n) {
    int factor = 2 + blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 2 * factor; k < n; k += factor) composite[k] = 1;  //! same_value
}

int main() {
    unsigned char* composite;
    cudaMalloc(&composite, 200);
    cudaMemset(composite, 0, 200);
    sieve_kernel<<<2, 8>>>(composite, 200);
    return cudaDeviceSynchronize() != cudaSuccess;
}
