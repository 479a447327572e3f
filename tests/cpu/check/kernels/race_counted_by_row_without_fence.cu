// The last block of each row of the grid gathers the row's parts. The fence is before the volatile writes, and the
// counters wrap around.
#include <cuda_runtime.h>

__device__ unsigned finished[4];

__global__ void sum_kernel(volatile int* parts, int* totals) {
    __shared__ bool last;
    __threadfence();
    if (threadIdx.x < 2) parts[(blockIdx.y * gridDim.x + blockIdx.x) * 2 + threadIdx.x] = threadIdx.x;  //! race
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&finished[blockIdx.y], gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last || threadIdx.x > 0) return;
    int sum = 0;
    for (unsigned i = 0; i < 2 * gridDim.x; ++i) sum += parts[blockIdx.y * gridDim.x * 2 + i];  //! race
    totals[blockIdx.y] = sum;
}

int main() {
    int *parts, *totals;
    cudaMalloc(&parts, 4 * 6 * 2 * sizeof(int));
    cudaMalloc(&totals, 4 * sizeof(int));
    sum_kernel<<<dim3(6, 4), 64>>>(parts, totals);
    const bool failed = cudaDeviceSynchronize() != cudaSuccess;
    cudaFree(parts);
    cudaFree(totals);
    return failed;
}
