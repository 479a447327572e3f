// Warp 0 writes, and after a fence raises a volatile flag in shared memory that the other warp polls.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void hand_over_kernel(int* out) {
    __shared__ int values[32];
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        values[threadIdx.x] = threadIdx.x;
        __syncwarp();
        if (threadIdx.x == 0) {
            __threadfence_block();
            ready = 1;
        }
    } else {
        while (ready == 0) __nanosleep(20);
        __threadfence_block();
        out[threadIdx.x - 32] = values[threadIdx.x - 32];
    }
}

int main() {
    int host[32], *out, wrong = 0;
    cudaMalloc(&out, sizeof host);
    hand_over_kernel<<<1, 64>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; ++i) wrong += host[i] != i;
    puts(wrong ? "wrong" : "ok");
    cudaFree(out);
}
