// Dynamic shared memory does not last from one launch to the next.
#include <cuda_runtime.h>

__global__ void write_kernel(int* out) {
    extern __shared__ int values[];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}

__global__ void read_kernel(int* out) {
    extern __shared__ int values[];
    out[threadIdx.x] = values[threadIdx.x];  //! uninitialised
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    write_kernel<<<1, 64, 64 * sizeof(int)>>>(out);
    read_kernel<<<1, 64, 64 * sizeof(int)>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
