// All blocks of a cooperative launch run at once: they may wait for each other by an atomic counter.
#include <cstdio>

__device__ unsigned arrived;

__device__ void grid_barrier(unsigned phase) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (atomicAdd(&arrived, 0) < phase * gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void rotate_kernel(int* x, int* y) {
    __shared__ int own[64];
    __shared__ int next_block;
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x == 0) next_block = (blockIdx.x + 1) % gridDim.x;
    own[threadIdx.x] = x[i];
    grid_barrier(1);
    x[i] = own[63 - threadIdx.x] + 1;
    grid_barrier(2);
    y[i] = x[next_block * 64 + threadIdx.x];
}

int main() {
    constexpr int blocks = 5, n = blocks * 64;
    int *x, *y, values[n];
    for (int i = 0; i < n; ++i) values[i] = i;
    cudaMalloc(&x, sizeof values);
    cudaMalloc(&y, sizeof values);
    cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
    void* arguments[] = {&x, &y};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rotate_kernel), blocks, 64, arguments, 0, nullptr);
    cudaMemcpy(values, y, sizeof values, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(y);
    bool right = true;
    for (int i = 0; i < n; ++i) right &= values[i] == (i / 64 + 1) % blocks * 64 + 63 - i % 64 + 1;
    std::puts(right ? "ok" : "wrong");
}
