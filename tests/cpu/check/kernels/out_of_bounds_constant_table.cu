// Each thread looks up a table that is half as long as the block.
#include <cuda_runtime.h>

__constant__ short table[64];

__global__ void look_up_kernel(short* out) {
    out[threadIdx.x] = table[threadIdx.x];  //! out_of_bounds
}

int main() {
    short* out;
    cudaMalloc(&out, 128 * sizeof(short));
    look_up_kernel<<<1, 128>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
