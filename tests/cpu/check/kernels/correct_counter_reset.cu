// The last block to finish adds all parts and sets the counter back with a plain store.
#include <cuda_runtime.h>

#include <cstdio>

__device__ unsigned finished;

__global__ void gather_kernel(volatile int* parts, int* total) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = 2;
        __threadfence();
        last = atomicAdd(&finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x > 0) return;
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];
    *total = sum;
    finished = 0;
}

int main() {
    int host, *parts, *total;
    cudaMalloc(&parts, 8 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    for (int i = 0; i < 2; ++i) gather_kernel<<<8, 64>>>(parts, total);
    cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
    puts(host == 16 ? "ok" : "wrong");
    cudaFree(parts);
    cudaFree(total);
}
