// Open: all threads write different values to an unaligned member of a packed struct in shared memory.
#include "labs/dot_product/lab.h"

struct __attribute__((packed)) Packed {
    char c;
    int x;
};

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ Packed last;
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
    last.x = threadIdx.x;
    __syncthreads();
    if (last.x == -1) *out = 0;
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
