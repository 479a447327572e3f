// The host clears the bins with a loop of its own.
#include <cuda_runtime.h>

__global__ void histogram_kernel(unsigned* bins) { atomicAdd(&bins[threadIdx.x % 16], 1u); }

int main() {
    unsigned* bins;
    cudaMalloc(&bins, 16 * sizeof(unsigned));
    for (int i = 0; i < 16; i++) bins[i] = 0;  //! device_memory
    histogram_kernel<<<4, 64>>>(bins);
    return cudaDeviceSynchronize() != cudaSuccess;
}
