// The block counts itself as done before its fence: the last block may read results that are not visible yet.
#include <cuda_runtime.h>

__device__ unsigned finished;

__global__ void gather_kernel(int* parts, int* total) {
    if (threadIdx.x > 0) return;
    parts[blockIdx.x] = 2 * blockIdx.x;  //! race
    const unsigned before = atomicInc(&finished, gridDim.x - 1);
    __threadfence();
    if (before < gridDim.x - 1) return;
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];  //! race
    *total = sum;
}

int main() {
    int *parts, *total;
    cudaMalloc(&parts, 8 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    gather_kernel<<<8, 32>>>(parts, total);
    return cudaDeviceSynchronize() != cudaSuccess;
}
