// Each block announces its part before it writes it. The fence does not help: the last block may read missing parts.
#include <cuda_runtime.h>

__device__ unsigned arrived;

__global__ void gather_kernel(int* parts, int* total) {
    __shared__ bool last;
    __threadfence();
    if (threadIdx.x == 0) last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    __syncthreads();
    if (threadIdx.x == 0) parts[blockIdx.x] = 2 * blockIdx.x;  //! race
    __syncthreads();
    if (!last || threadIdx.x > 0) return;
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];  //! race
    *total = sum;
}

int main() {
    int *parts, *total;
    cudaMalloc(&parts, 8 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    gather_kernel<<<8, 64>>>(parts, total);
    return cudaDeviceSynchronize() != cudaSuccess;
}
