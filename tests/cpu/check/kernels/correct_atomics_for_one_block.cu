// Atomics with block scope on words that only one block uses; the last block adds them up. All blocks load one word
// that no block writes.
#include <cuda_runtime.h>

#include <cstdio>
#include <cuda/atomic>

__global__ void count_kernel(const int* x, int* of_block, unsigned* done, int* limit, int* total) {
    __shared__ int in_shared;
    __shared__ bool last;
    if (threadIdx.x == 0) in_shared = 0;
    __syncthreads();
    const cuda::atomic_ref<int, cuda::thread_scope_block> bound(*limit);
    const int value = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (value < bound.load(cuda::memory_order_relaxed)) atomicAdd_block(&of_block[blockIdx.x], value);
    atomicMax_block(&in_shared, value);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) atomicAdd_block(total, atomicAdd_block(&of_block[threadIdx.x], 0));
}

int main() {
    int host[512], *x, *of_block, *limit, *total, sum, hundred = 100;
    unsigned* done;
    for (int i = 0; i < 512; i++) host[i] = i % 3;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&of_block, 4 * sizeof(int));
    cudaMalloc(&done, sizeof(unsigned));
    cudaMalloc(&limit, sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemcpy(limit, &hundred, sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(of_block, 0, 4 * sizeof(int));
    cudaMemset(done, 0, sizeof(unsigned));
    cudaMemset(total, 0, sizeof(int));
    count_kernel<<<4, 128>>>(x, of_block, done, limit, total);
    cudaMemcpy(&sum, total, sizeof(int), cudaMemcpyDeviceToHost);
    for (void* memory : {(void*)x, (void*)of_block, (void*)done, (void*)limit, (void*)total}) cudaFree(memory);
    puts(sum == 511 ? "ok" : "wrong");
    return sum != 511;
}
