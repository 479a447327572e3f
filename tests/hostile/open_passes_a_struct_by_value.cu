// Open: a function that is not inlined takes by value a struct that is beyond the end.
#include "labs/dot_product/lab.h"

struct Two {
    int x, y;
};
__attribute__((noinline)) __device__ int first(Two two) { return two.x; }

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i + 1 == n && first(*reinterpret_cast<const Two*>(a + n)) == 12345) atomicAdd(out, 0);
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
