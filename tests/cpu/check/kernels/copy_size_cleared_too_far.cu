// The bins are bytes, but are cleared as if they were ints.
#include <cuda_runtime.h>

__global__ void count_kernel(unsigned char* bins) { bins[threadIdx.x]++; }

int main() {
    unsigned char* bins;
    cudaMalloc(&bins, 1024);
    cudaMemset(bins, 0, 1024 * sizeof(int));  //! copy_size
    count_kernel<<<1, 1024>>>(bins);
    return cudaDeviceSynchronize() != cudaSuccess;
}
