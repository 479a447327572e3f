// A thread reads a bin without an atomic before it adds to it. The value that it reads can only be too small.
#include <cuda_runtime.h>

__global__ void histogram_kernel(const int* values, unsigned* bins) {
    int v = values[blockIdx.x * blockDim.x + threadIdx.x];
    if (bins[v] < 255) atomicAdd(&bins[v], 1u);  //! note
}

int main() {
    int host[256], *values;
    unsigned* bins;
    for (int i = 0; i < 256; i++) host[i] = i % 4;
    cudaMalloc(&values, sizeof(host));
    cudaMalloc(&bins, 4 * sizeof(unsigned));
    cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, 4 * sizeof(unsigned));
    histogram_kernel<<<4, 64>>>(values, bins);
    return cudaDeviceSynchronize() != cudaSuccess;
}
