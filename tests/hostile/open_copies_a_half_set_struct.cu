// Open: copies a struct with a member that was never set, and uses that member.
#include "labs/dot_product/lab.h"

struct Parts {
    int product, unset, more[3];
};

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    __shared__ Parts parts[256];
    parts[threadIdx.x].product = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    Parts copied = parts[255 - threadIdx.x];
    if (copied.unset == 12345) atomicAdd(out, 0);
    atomicAdd(out, copied.product);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
