#include "labs/dot_product/lab.h"

__device__ unsigned int done = 0;

__global__ void single_pass(const int *a, const int *b, int *out, int *partial, size_t n)
{
    __shared__ int s[128];
    __shared__ bool amLast;
    const int t = threadIdx.x;
    int v = 0;
    for (size_t i = (size_t)blockIdx.x * 128 + t; i < n; i += (size_t)gridDim.x * 128) v += a[i] * b[i];
    s[t] = v;
    for (int h = 64; h; h >>= 1) {
        __syncthreads();
        if (t < h) s[t] += s[t + h];
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        amLast = atomicAdd(&done, 1) == gridDim.x - 1;
    }
    if (amLast && t == 0) done = 0;
    __syncthreads();
    if (amLast) {
        v = 0;
        for (int k = t; k < gridDim.x; k += 128) v += ((volatile int *)partial)[k];
        s[t] = v;
        for (int h = 64; h; h >>= 1) {
            __syncthreads();
            if (t < h) s[t] += s[t + h];
        }
        if (t == 0) *out = s[0];
    }
}

size_t dot_product_scratch_bytes(size_t) { return 96 * sizeof(int); }

void dot_product(const int *a, const int *b, int *out, size_t n, void *scratch)
{
    single_pass<<<96, 128>>>(a, b, out, (int *)scratch, n);
    CUDA_CHECK(cudaGetLastError());
}
