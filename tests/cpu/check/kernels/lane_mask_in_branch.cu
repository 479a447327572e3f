// The mask names all lanes, but half of them wait at the block's barrier.
#include <cuda_runtime.h>

__global__ void half_kernel(int* out) {
    int v = threadIdx.x;
    if (threadIdx.x < 16) {
        v += __shfl_down_sync(0xffffffff, v, 8);  //! lane_mask
    }
    __syncthreads();
    out[threadIdx.x] = v;
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    half_kernel<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
