// Device variables that are volatile, and copies to and from symbols with CUDA's default arguments.
#include <cuda_runtime.h>

#include <cstdio>

__device__ volatile unsigned arrived;
__device__ volatile long long guarded[2];
__constant__ int step;

__global__ void count_kernel() {
    if (threadIdx.x == 0) guarded[1] = guarded[0] + step + arrived;
}

int main() {
    const unsigned seven = 7;
    const int five = 5;
    const long long start[2] = {100, 0};
    unsigned still = 0;
    long long sum[2], *place = nullptr;
    cudaMemcpyToSymbol(arrived, &seven, sizeof seven);
    cudaMemcpyToSymbolAsync(guarded, start, sizeof start);
    cudaMemcpyToSymbolAsync(step, &five, sizeof five, 0, cudaMemcpyHostToDevice, 0);
    count_kernel<<<1, 32>>>();
    cudaMemcpyFromSymbol(&still, arrived, sizeof still);
    cudaMemcpyFromSymbolAsync(sum, guarded, sizeof sum);
    cudaDeviceSynchronize();
    bool right = still == 7 && sum[1] == 112;
    cudaGetSymbolAddress((void**)&place, guarded);
    cudaMemcpy(sum, place, sizeof sum, cudaMemcpyDeviceToHost);
    right = right && sum[1] == 112;
    puts(right ? "ok" : "wrong");
    return !right;
}
