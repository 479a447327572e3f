// Two warps with different work, each with its own barrier.
#include <cuda_runtime.h>

__global__ void roles_kernel(int* out) {
    if (threadIdx.x >= 32) {
        out[threadIdx.x] = 2;
        __syncthreads();  //! divergent_barrier
        return;
    }
    __syncthreads();  //! divergent_barrier
    out[threadIdx.x] = 1;
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    roles_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
