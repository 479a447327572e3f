// Halves and pairs of halves: in shared memory, in atomics, in shuffles, and passed by reference.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

__device__ void scale(half2& pair, half factor) { pair = __hmul2(pair, __half2half2(factor)); }

__global__ void sum_kernel(const half* x, half2* pairs, half* total, __nv_bfloat16* coarse, int n) {
    __shared__ half tile[128];
    __shared__ half2 sums[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : half(0.0f);
    __syncthreads();
    if (threadIdx.x < 64) {
        sums[threadIdx.x] = half2(tile[2 * threadIdx.x], tile[2 * threadIdx.x + 1]);
        scale(sums[threadIdx.x], 2.0f);
        sums[threadIdx.x].x += half(1);
    }
    __syncthreads();
    half value = __low2half(sums[threadIdx.x % 64]) + __high2half(sums[(threadIdx.x + 1) % 64]);
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
    if (threadIdx.x % 32 == 0) atomicAdd(total, value);
    if (threadIdx.x == 0) atomicAdd(coarse, __nv_bfloat16(value));
    if (threadIdx.x < 64) atomicAdd(&pairs[threadIdx.x], sums[threadIdx.x]);
}

int main() {
    const int n = 250;
    half host[n], *x, *total, sum;
    half2* pairs;
    __nv_bfloat16* coarse;
    for (int i = 0; i < n; i++) host[i] = half(i % 4);
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&total, sizeof(half));
    cudaMalloc(&pairs, 64 * sizeof(half2));
    cudaMalloc(&coarse, sizeof(*coarse));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemset(total, 0, sizeof(half));
    cudaMemset(pairs, 0, 64 * sizeof(half2));
    cudaMemset(coarse, 0, sizeof(*coarse));
    sum_kernel<<<2, 128>>>(x, pairs, total, coarse, n);
    cudaMemcpy(&sum, total, sizeof(half), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(total);
    cudaFree(pairs);
    cudaFree(coarse);
    const bool right = float(sum) == 1748;
    puts(right ? "ok" : "wrong");
    return !right;
}
