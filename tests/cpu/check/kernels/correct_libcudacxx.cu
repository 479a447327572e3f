// cuda::atomic passes a message, cuda::barrier synchronizes a block, and an atomic store sets a word that held garbage.

#include <cuda/atomic>
#include <cuda/barrier>

#include <cstdio>

__global__ void exchange(int* out) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ Barrier meeting;
    __shared__ cuda::atomic<int, cuda::thread_scope_block> ready;
    __shared__ int values[64], message;
    if (threadIdx.x == 0) {
        init(&meeting, blockDim.x);
        ready.store(0, cuda::memory_order_relaxed);
    }
    __syncthreads();
    values[threadIdx.x] = int(threadIdx.x);
    meeting.arrive_and_wait();
    out[threadIdx.x] = values[threadIdx.x ^ 40];
    if (threadIdx.x == 40) {
        message = 7;
        ready.store(1, cuda::memory_order_release);
    }
    if (threadIdx.x == 1) {
        while (ready.load(cuda::memory_order_acquire) == 0) {
        }
        out[1] += message;
    }
}

int main() {
    int *out, found[64], wrong = 0;
    cudaMalloc(&out, sizeof(found));
    exchange<<<1, 64>>>(out);
    cudaMemcpy(found, out, sizeof(found), cudaMemcpyDeviceToHost);
    for (int t = 0; t < 64; ++t) wrong += found[t] != (t ^ 40) + (t == 1 ? 7 : 0);
    cudaFree(out);
    puts(wrong ? "wrong" : "ok");
}
