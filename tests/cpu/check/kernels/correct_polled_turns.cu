// Threads poll volatile flags that other threads of their block set later; nothing else in the loop lets those run.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void polling_kernel(int* out) {
    __shared__ volatile int turn;
    if (threadIdx.x == 0) turn = -1;
    __syncthreads();
    for (int to_come = 1; to_come >= -1; to_come -= 2) {
        // First upward, then downward: in any order of the threads, some wait for others that run after them.
        int before = to_come > 0 ? (int)threadIdx.x - 1 : (int)(blockDim.x - threadIdx.x) - 2;
        while (turn != before) {
        }
        __threadfence_block();
        out[threadIdx.x] += before + 1 + threadIdx.x;
        __threadfence_block();
        turn = before + 1;
        __syncthreads();
        if (threadIdx.x == 0) turn = -1;
        __syncthreads();
    }
}

int main() {
    int host[48] = {}, *out, wrong = 0;
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(out, host, sizeof host, cudaMemcpyHostToDevice);
    polling_kernel<<<1, 48>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 48; ++i) wrong += host[i] != i + i + 47 - i + i;
    puts(wrong ? "wrong" : "ok");
    cudaFree(out);
}
