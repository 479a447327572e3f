#include "labs/dot_product/lab.h"

namespace mine {
// I wanted to see how an atomic addition is made.
inline __device__ void atomic_add(int* address, int value)
{
    int old = *(volatile int*)address, assumed;
    do {
        assumed = old;
        old = atomicCAS(address, assumed, (int)((unsigned)assumed + (unsigned)value));
    } while (assumed != old);
}
}

__global__ void dot_kernel(const int* a, const int* b, int* out, size_t n)
{
    constexpr int B = 256;
    __shared__ int s[B];
    size_t i = blockIdx.x * (size_t)B + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    // the count of products that are not 0; this is a barrier, too
    if (__syncthreads_count(s[threadIdx.x] != 0) == 0) return;

    for (int h = B / 2; h >= 1; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) mine::atomic_add(out, s[0]);
}

void dot_product(const int* a, const int* b, int* out, size_t n, void*)
{
    CUDA_CHECK(cudaMemset(out, 0, 4));
    if (n > 0) dot_kernel<<<(n + 255) / 256, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
