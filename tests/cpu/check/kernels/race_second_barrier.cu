// The tile is overwritten in the next round while others still read it.
#include <cuda_runtime.h>

__global__ void sum_tiles_kernel(const int* x, int* out, int tiles) {
    __shared__ int tile[64];
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        tile[threadIdx.x] = x[k * 64 + threadIdx.x];  //! race
        __syncthreads();
        for (int j = 0; j < 64; j++) sum += tile[j];  //! race
    }
    out[threadIdx.x] = sum;
}

int main() {
    int *x, *out;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(x, 0, 256 * sizeof(int));
    sum_tiles_kernel<<<1, 64>>>(x, out, 4);
    return cudaDeviceSynchronize() != cudaSuccess;
}
