// Open: calls nested 256 deep, each with 64 bytes of local data, use over 16 KB of stack. A GPU's thread has 1 KB,
// unless cudaDeviceSetLimit() sets more; a thread of the CPU backend has 256 KB.
#include "labs/dot_product/lab.h"

__device__ __noinline__ int add_up(const int* products, int first, const int* trail) {
    int own[16];
    for (int k = 0; k < 16; ++k) own[k] = trail[k] + k;
    if (first == 255) return products[255] + own[3] - own[3];
    return products[first] + add_up(products, first + 1, own) + own[5] - own[5];
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int products[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        const int trail[16] = {};
        atomicAdd(out, add_up(products, 0, trail));
    }
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
