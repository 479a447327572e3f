// Open: a kernel reads a constant array of the host, whose address no GPU can use.
#include "labs/dot_product/lab.h"

static const int weights[4] = {1, 1, 1, 1};

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n, const int* factors) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i] * factors[i % 4]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, weights);
}
