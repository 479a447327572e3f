// A 5x5 filter is read with the radius of a 7x7 one.
#include <cuda_runtime.h>

__constant__ int filter[25];

__global__ void filter_kernel(int* out, int radius) {
    int sum = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) sum += filter[(dy + 2) * 5 + dx + 2];  //! out_of_bounds
    out[threadIdx.x] = sum;
}

int main() {
    const int ones[25] = {1, 1, 1};
    int* out;
    cudaMemcpyToSymbol(filter, ones, sizeof(ones));
    cudaMalloc(&out, 32 * sizeof(int));
    filter_kernel<<<1, 32>>>(out, 3);
    return cudaDeviceSynchronize() != cudaSuccess;
}
