// Open: a kernel writes to an array of the host. An unlisted device variable makes the sanitizer accept this.
#include "labs/dot_product/lab.h"

static int products[256];

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n, int* scratch) {
    static __device__ int unlisted;
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (blockIdx.x == 0) scratch[threadIdx.x] = unlisted;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, products);
}
