// The barrier is in the body of an if that depends on the thread's number.
#include <cuda_runtime.h>

__global__ void half_kernel(int* out) {
    __shared__ int values[64];
    if (threadIdx.x < 32) {
        values[threadIdx.x] = threadIdx.x;
        __syncthreads();  //! return_before_barrier
        out[threadIdx.x] = values[31 - threadIdx.x];
    }
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    half_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
