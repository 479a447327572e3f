// Every thread writes its part and executes a fence. After a barrier, one thread increments the counter for its block.
#include <cuda_runtime.h>

#include <cstdio>

__device__ unsigned arrived;

__global__ void gather_kernel(int* parts, int* total) {
    __shared__ bool last;
    parts[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    int sum = 0;
    for (unsigned i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) sum += parts[i];
    atomicAdd(total, sum);
}

int main() {
    int host, *parts, *total;
    cudaMalloc(&parts, 8 * 64 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    gather_kernel<<<8, 64>>>(parts, total);
    cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
    puts(host == 512 ? "ok" : "wrong");
    cudaFree(parts);
    cudaFree(total);
}
