// Warps add by shuffles, and one warp adds the warps' sums.
#include <cuda_runtime.h>

#include <cstdio>

__device__ int warp_sum(int value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__global__ void reduce_kernel(int* total) {
    __shared__ int sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = warp_sum(blockIdx.x * blockDim.x + threadIdx.x);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp > 0) return;
    sum = warp_sum(lane < blockDim.x / 32 ? sums[lane] : 0);
    if (lane == 0) atomicAdd(total, sum);
}

int main() {
    int sum, *total;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    reduce_kernel<<<4, 256>>>(total);
    cudaMemcpy(&sum, total, sizeof(int), cudaMemcpyDeviceToHost);
    bool right = sum == 1023 * 512;
    puts(right ? "ok" : "wrong");
    return !right;
}
