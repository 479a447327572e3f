// Open: reads beyond the end of a local array, through a pointer: the stack around it has no shadow memory.
#include "labs/dot_product/lab.h"

__device__ __noinline__ int peek(const int* values, int index) {
    return static_cast<const volatile int*>(values)[index];
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int mine[4] = {1, 2, 3, 4};
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * peek(mine, 9));
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
