// Open: two branches call the same helper function, whose barrier is then in divergent code.
#include "labs/dot_product/lab.h"

__device__ void wait_for_all() { __syncthreads(); }

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    __shared__ int products[256];
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    int product = 0;
    if (threadIdx.x & 1) {
        wait_for_all();
        product = products[255 - threadIdx.x];
    } else {
        wait_for_all();
        product = products[255 - threadIdx.x] + 0;
    }
    if (product) atomicAdd(out, product);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
