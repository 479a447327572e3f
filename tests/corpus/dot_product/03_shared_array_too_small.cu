#include "labs/dot_product/lab.h"

const int TILE = 128;

__global__ void dot(const int *a, const int *b, int *out, size_t n)
{
    __shared__ int s[TILE];
    int t = threadIdx.x;
    size_t i = blockIdx.x * (size_t)blockDim.x + t;
    s[t] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (t < h) s[t] += s[t + h];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, s[0]);
}

void dot_product(const int *a, const int *b, int *out, size_t n, void *)
{
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    int threads = 256;   // was TILE
    if (n > 0) dot<<<(n + threads - 1) / threads, threads>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
