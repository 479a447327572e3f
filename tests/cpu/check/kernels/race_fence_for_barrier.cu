// A fence orders a thread's own accesses; it does not wait for others.
#include <cuda_runtime.h>

__global__ void turn_kernel(int* out) {
    __shared__ int values[64];
    values[threadIdx.x] = threadIdx.x;  //! race
    __threadfence_block();
    out[threadIdx.x] = values[63 - threadIdx.x];  //! race
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    turn_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
