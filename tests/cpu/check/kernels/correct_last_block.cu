// The last block to finish adds all blocks' partial sums.
#include <cuda_runtime.h>

#include <cstdio>

__device__ unsigned finished;

__global__ void sum_kernel(int* partials, int* total) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partials[blockIdx.x] = 3 * blockIdx.x + 1;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    int sum = threadIdx.x < gridDim.x ? partials[threadIdx.x] : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0) *total = sum;
}

int main() {
    int sum, *partials, *total;
    cudaMalloc(&partials, 16 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    for (int launch = 0; launch < 2; launch++) sum_kernel<<<16, 32>>>(partials, total);
    cudaMemcpy(&sum, total, sizeof(int), cudaMemcpyDeviceToHost);
    bool right = sum == 3 * 120 + 16;
    puts(right ? "ok" : "wrong");
    return !right;
}
