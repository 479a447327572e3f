// All lanes shuffle, but the mask names only the lower half.
#include <cuda_runtime.h>

__global__ void pair_kernel(int* out) {
    int v = threadIdx.x;
    v += __shfl_down_sync(0x0000ffff, v, 8);  //! lane_mask
    out[threadIdx.x] = v;
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    pair_kernel<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
