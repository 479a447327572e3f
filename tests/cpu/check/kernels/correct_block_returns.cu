// Whole blocks return before the barrier, and in the others all threads reach it.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void reverse_kernel(const int* in, int* out, int blocks) {
    __shared__ int tile[64];
    if (blockIdx.x >= blocks) return;
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[63 - threadIdx.x];
}

int main() {
    int host[192], *in, *out;
    for (int i = 0; i < 192; i++) host[i] = i;
    cudaMalloc(&in, sizeof(host));
    cudaMalloc(&out, sizeof(host));
    cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
    reverse_kernel<<<5, 64>>>(in, out, 3);
    cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
    bool right = host[0] == 63 && host[191] == 128;
    puts(right ? "ok" : "wrong");
    return !right;
}
