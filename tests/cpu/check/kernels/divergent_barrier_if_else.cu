// Both branches wait, each at its own barrier.
#include <cuda_runtime.h>

__global__ void branch_kernel(int* out) {
    __shared__ int values[64];
    if (threadIdx.x % 2 == 0) {
        values[threadIdx.x] = 1;
        __syncthreads();  //! divergent_barrier
    } else {
        values[threadIdx.x] = 2;
        __syncthreads();  //! divergent_barrier
    }
    out[threadIdx.x] = values[threadIdx.x];
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    branch_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
