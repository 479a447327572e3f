// The launch gives dynamic shared memory for half of the threads.
#include <cuda_runtime.h>

__global__ void reverse_kernel(int* out) {
    extern __shared__ int values[];
    values[threadIdx.x] = threadIdx.x;  //! out_of_bounds
    __syncthreads();
    if (threadIdx.x < blockDim.x / 2) out[threadIdx.x] = values[blockDim.x / 2 - 1 - threadIdx.x];
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    reverse_kernel<<<1, 64, 32 * sizeof(int)>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
