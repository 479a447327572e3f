// Thread 0 of each block takes the next task from an atomic counter and passes it on through shared memory.
#include <cuda_runtime.h>

#include <cstdio>

__device__ unsigned next_task;

__global__ void tasks_kernel(int* done, unsigned tasks) {
    __shared__ unsigned task;
    while (true) {
        if (threadIdx.x == 0) task = atomicAdd(&next_task, 1);
        __syncthreads();
        unsigned mine = task;
        __syncthreads();
        if (mine >= tasks) return;
        done[mine * blockDim.x + threadIdx.x] = mine;
    }
}

int main() {
    int host[10 * 32], *done;
    cudaMalloc(&done, sizeof(host));
    tasks_kernel<<<3, 32>>>(done, 10);
    cudaMemcpy(host, done, sizeof(host), cudaMemcpyDeviceToHost);
    bool right = host[0] == 0 && host[10 * 32 - 1] == 9;
    puts(right ? "ok" : "wrong");
    return !right;
}
