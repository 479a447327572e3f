// Threads add the block's bins to the sum while others still count.
#include <cuda_runtime.h>

__global__ void histogram_kernel(const int* values, unsigned* bins) {
    __shared__ unsigned block_bins[64];
    block_bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 64) {
        atomicAdd(&block_bins[values[i] % 64], 1u);  //! atomic_race
    }
    atomicAdd(&bins[threadIdx.x], block_bins[threadIdx.x]);  //! atomic_race
}

int main() {
    int host[256], *values;
    unsigned* bins;
    for (int i = 0; i < 256; i++) host[i] = i * 7;
    cudaMalloc(&values, sizeof(host));
    cudaMalloc(&bins, 64 * sizeof(unsigned));
    cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, 64 * sizeof(unsigned));
    histogram_kernel<<<2, 64>>>(values, bins);
    return cudaDeviceSynchronize() != cudaSuccess;
}
