// Thread 32 writes; thread 0 executes the fence and increments the counter. Nothing orders the write before the fence.
#include <cuda_runtime.h>

__device__ unsigned arrived;

__global__ void gather_kernel(int* parts, int* total) {
    __shared__ bool last;
    if (threadIdx.x == 32) parts[blockIdx.x] = 2 * blockIdx.x;  //! race
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    }
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
