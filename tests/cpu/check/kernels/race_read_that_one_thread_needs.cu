// All threads read the flag, although only thread 0 needs it, and thread 0 resets it without a barrier in between.
#include <cuda_runtime.h>

#include <cstdio>

__device__ unsigned finished;

__global__ void kernel(int* partial, int* out) {
    __shared__ bool last;
    unsigned t = threadIdx.x;
    if (t == 0) {
        partial[blockIdx.x] = 1;
        last = atomicAdd(&finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {  //! race
        *out = partial[blockIdx.x];
        last = false;  //! race
    }
}

int main() {
    int *partial, *out;
    cudaMalloc(&partial, 4 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    kernel<<<1, 64>>>(partial, out);
    cudaDeviceSynchronize();
    cudaFree(partial);
    cudaFree(out);
    puts("ok");
}
