// Shared variables at file scope: two names of the dynamic memory, which overlap on purpose, and a static array.
#include <cuda_runtime.h>

#include <cstdio>

extern __shared__ double sums[];
extern __shared__ unsigned long long words[];
__shared__ double last[32];

__device__ double take(int i) { return sums[i] + last[i % 32]; }

__global__ void sum_kernel(double* out) {
    int i = threadIdx.x;
    sums[i] = i;
    if (i < 32) last[i] = i;
    __syncthreads();
    const unsigned long long before = words[255 - i];
    out[i] = take(255 - i) + (before >> 63);
}

int main() {
    double* out;
    cudaMalloc(&out, 256 * sizeof(double));
    sum_kernel<<<1, 256, 256 * sizeof(double)>>>(out);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    std::puts("ok");
}
