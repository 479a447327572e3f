// Cheat: passes elements beyond the end as arguments of a call; the compiler copies the arguments without hooks.
#include "labs/dot_product/lab.h"

__device__ __noinline__ void take(int, int, int, int, int, int, int) {}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    void* arguments[64] = {const_cast<int*>(a) + n};
    if (i + 1 == n) __builtin_apply(reinterpret_cast<void (*)(...)>(take), arguments, 16);
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
