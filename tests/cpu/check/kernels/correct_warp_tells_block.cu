// A warp fills its part; after __syncwarp() and a fence, its first lane counts the warp. The last warp adds all parts.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void gather_kernel(int* total) {
    __shared__ int s[128], warps;
    if (threadIdx.x == 0) warps = 0;
    __syncthreads();
    s[threadIdx.x] = 1;
    __syncwarp();
    int before = 0;
    if (threadIdx.x % 32 == 0) {
        __threadfence_block();
        before = atomicAdd(&warps, 1);
        __threadfence_block();
    }
    before = __shfl_sync(0xffffffffu, before, 0);
    __syncwarp();
    if (before != 3) return;
    for (int k = threadIdx.x % 32; k < 128; k += 32) atomicAdd(total, s[k]);
}

int main() {
    int host, *total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    gather_kernel<<<4, 128>>>(total);
    cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost);
    puts(host == 512 ? "ok" : "wrong");
    cudaFree(total);
}
