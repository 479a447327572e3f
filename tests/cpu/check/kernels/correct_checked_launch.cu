// The host checks a launch that may fail, and repeats it with smaller blocks.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fill_kernel(int* x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
}

int main() {
    int *x, last = 0;
    cudaMalloc(&x, 4096 * sizeof(int));
    for (int threads = 4096; threads > 0; threads /= 2) {
        fill_kernel<<<4096 / threads, threads>>>(x);
        if (cudaGetLastError() == cudaSuccess) break;
    }
    cudaMemcpy(&last, x + 4095, sizeof(int), cudaMemcpyDeviceToHost);
    puts(last == 4095 ? "ok" : "wrong");
    return last != 4095;
}
