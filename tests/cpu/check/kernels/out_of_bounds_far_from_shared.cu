// A thread reads shared memory 4 KB past the block's only array, through a pointer.
#include <cuda_runtime.h>

__device__ int peek(const int* values, int index) { return values[index]; }  //! out_of_bounds

__global__ void read_kernel(int* out) {
    __shared__ int values[256];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = peek(values, threadIdx.x + 1024 + 256);
}

int main() {
    int* out;
    cudaMalloc(&out, 256 * sizeof(int));
    read_kernel<<<1, 256>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
