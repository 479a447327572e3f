// Each warp has a row of counts; bin 9 of a row is bin 1 of the next warp's row.
#include <cuda_runtime.h>

__global__ void count_kernel(const unsigned* values, unsigned* out) {
    __shared__ unsigned counts[4][8];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane < 8) counts[warp][lane] = 0;
    __syncthreads();
    unsigned bin = values[threadIdx.x] + (warp < 3 && lane == 0 ? 9 : 0);
    atomicAdd(&counts[warp][bin], 1u);  //! out_of_bounds
    __syncthreads();
    if (lane < 8) out[warp * 8 + lane] = counts[warp][lane];
}

int main() {
    unsigned *values, *out;
    cudaMalloc(&values, 128 * sizeof(unsigned));
    cudaMalloc(&out, 32 * sizeof(unsigned));
    cudaMemset(values, 0, 128 * sizeof(unsigned));
    count_kernel<<<1, 128>>>(values, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
