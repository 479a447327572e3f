// Honest: local variables and parameters of device code have the names of host variables and functions; the file
// overloads min() for the host.
#include <algorithm>

#include "labs/dot_product/lab.h"

static int blocks, threads = 256, total, buffer[2];

static int step(int x) { return x + 1; }

inline int min(int a, int b, int c) { return std::min(a, std::min(b, c)); }

template <class F>
__device__ int apply(F&& step, int x, int y) {
    return step(x, y);
}

__device__ int first(volatile int* buffer) { return buffer[0]; }

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int sums[256];
    const int lane = threadIdx.x, threads = blockDim.x;
    const std::size_t begin = std::size_t{blockIdx.x} * threads, total = min(n - begin, std::size_t{256});
    sums[lane] = lane < total ? apply([](int x, int y) { return x * y; }, a[begin + lane], b[begin + lane]) : 0;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (lane < half) sums[lane] += sums[lane + half];
        __syncthreads();
    }
    if (lane == 0) atomicAdd(out, first(sums));
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    blocks = static_cast<int>((n + threads - 1) / threads);
    buffer[total] = step(min(blocks, 3, 2));
    dot_product_kernel<<<blocks, threads>>>(a, b, out, n);
}
