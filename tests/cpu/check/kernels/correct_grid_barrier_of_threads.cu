// Threads of all blocks meet at one cuda::barrier, and at a counter with a generation, again and again. Threads of
// one block are sometimes ordered only by way of another block, which arrives last.
#include <cstdio>
#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_device>;
constexpr int blocks = 4, threads = 32, total = blocks * threads, rounds = 40;
__device__ Barrier barrier;
__device__ unsigned arrived;
__device__ volatile unsigned generation;

__global__ void init_kernel() { init(&barrier, total); }

__device__ void counter_barrier() {
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned mine = generation;
        __threadfence();
        if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
            arrived = 0;
            __threadfence();
            generation = mine + 1;
        } else {
            while (generation == mine) {
            }
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void tree_kernel(int* sums) {
    const int me = blockIdx.x * threads + threadIdx.x;
    sums[me] = me;
    barrier.arrive_and_wait();
    for (int d = total / 2; d > 0; d /= 2) {
        if (me < d) sums[me] += sums[me + d];
        barrier.arrive_and_wait();
    }
}

__global__ void turn_kernel(int* x, int* y) {
    const int me = blockIdx.x * threads + threadIdx.x;
    for (int round = 0; round < rounds; ++round) {
        y[(me + threads) % total] = x[me] + 1;
        counter_barrier();
        x[me] = y[me];
        counter_barrier();
    }
}

int main() {
    int *x, *y, values[total] = {};
    cudaMalloc(&x, sizeof values);
    cudaMalloc(&y, sizeof values);
    void *of_tree[] = {&x}, *of_turn[] = {&x, &y};
    init_kernel<<<1, 1>>>();
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(tree_kernel), blocks, threads, of_tree, 0, nullptr);
    cudaMemcpy(values, x, sizeof(int), cudaMemcpyDeviceToHost);
    bool right = values[0] == total * (total - 1) / 2;
    cudaMemset(x, 0, sizeof values);
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(turn_kernel), blocks, threads, of_turn, 0, nullptr);
    cudaMemcpy(values, x, sizeof values, cudaMemcpyDeviceToHost);
    for (int value : values) right &= value == rounds;
    cudaFree(x);
    cudaFree(y);
    std::puts(right ? "ok" : "wrong");
}
