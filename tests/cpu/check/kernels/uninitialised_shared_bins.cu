// A shared histogram is not set to zero.
#include <cuda_runtime.h>

__global__ void histogram_kernel(int* out) {
    __shared__ int bins[32];
    atomicAdd(&bins[threadIdx.x % 32], 1);  //! uninitialised
    __syncthreads();
    if (threadIdx.x < 32) out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    histogram_kernel<<<1, 128>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
