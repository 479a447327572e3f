// Two arrays share the dynamic memory; the launch's size covers only the first and half of the second.
#include <cuda_runtime.h>

__global__ void pair_kernel(float* out) {
    extern __shared__ float memory[];
    float* sums = memory;
    int* counts = reinterpret_cast<int*>(memory + blockDim.x);
    sums[threadIdx.x] = 0.5f * threadIdx.x;
    counts[threadIdx.x] = threadIdx.x + 1;  //! out_of_bounds
    __syncthreads();
    if (threadIdx.x < blockDim.x / 2) out[threadIdx.x] = sums[threadIdx.x] / counts[threadIdx.x];
}

int main() {
    float* out;
    cudaMalloc(&out, 128 * sizeof(float));
    pair_kernel<<<1, 128, 128 * sizeof(float) + 64 * sizeof(int)>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
