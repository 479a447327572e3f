// A shared histogram: plain stores of 0, then atomics, then plain reads, with barriers in between.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void histogram_kernel(const unsigned char* x, int n, unsigned* out) {
    __shared__ unsigned bins[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&out[b], bins[b]);
}

int main() {
    const int n = 3001;
    unsigned char host[n], *x;
    unsigned counts[256], *out;
    for (int i = 0; i < n; i++) host[i] = i % 10;
    cudaMalloc(&x, n);
    cudaMalloc(&out, sizeof(counts));
    cudaMemcpy(x, host, n, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(counts));
    histogram_kernel<<<3, 96>>>(x, n, out);
    cudaMemcpy(counts, out, sizeof(counts), cudaMemcpyDeviceToHost);
    bool right = counts[0] == 301 && counts[9] == 300 && counts[10] == 0;
    puts(right ? "ok" : "wrong");
    return !right;
}
