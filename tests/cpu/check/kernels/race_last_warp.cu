// The last levels of a reduction assume that the lanes of a warp run in lockstep.
#include <cuda_runtime.h>

__global__ void reduce_kernel(int* out) {
    __shared__ volatile int sums[64];
    int t = threadIdx.x;
    sums[t] = t;
    __syncthreads();
    if (t < 32) sums[t] = sums[t] + sums[t + 32];  //! race
    if (t < 16) sums[t] = sums[t] + sums[t + 16];  //! race
    __syncthreads();
    if (t < 16) out[t] = sums[t];
}

int main() {
    int* out;
    cudaMalloc(&out, 16 * sizeof(int));
    reduce_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
