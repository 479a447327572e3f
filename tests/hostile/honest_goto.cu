// Honest: a goto jumps over the declarations of shared variables, which have no initialisers.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t begin = std::size_t{blockIdx.x} * blockDim.x;
    if (begin >= n) goto done;
    __shared__ int products[256];
    products[threadIdx.x] = begin + threadIdx.x < n ? a[begin + threadIdx.x] * b[begin + threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < 256; ++i) sum += products[i];
        atomicAdd(out, sum);
    }
done:
    return;
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>(n / 256 + 2), 256>>>(a, b, out, n);
}
