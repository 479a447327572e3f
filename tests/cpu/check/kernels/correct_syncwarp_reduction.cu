// Each warp adds its part of a shared array with __syncwarp between reads and writes.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void reduce_kernel(int* out) {
    __shared__ int sums[128];
    int t = threadIdx.x, lane = t % 32;
    sums[t] = t;
    __syncwarp();
    for (int stride = 16; stride > 0; stride /= 2) {
        int value = lane < stride ? sums[t + stride] : 0;
        __syncwarp();
        sums[t] += value;
        __syncwarp();
    }
    if (lane == 0) out[t / 32] = sums[t];
}

int main() {
    int sums[4], *out;
    cudaMalloc(&out, sizeof(sums));
    reduce_kernel<<<1, 128>>>(out);
    cudaMemcpy(sums, out, sizeof(sums), cudaMemcpyDeviceToHost);
    bool right = sums[0] == 496 && sums[3] == 96 * 32 + 496;
    puts(right ? "ok" : "wrong");
    return !right;
}
