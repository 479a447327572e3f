// Open: a race on the same line as an honest guarded update of another word.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    __shared__ int sum, count, hits;
    if (threadIdx.x == 0) sum = count = hits = 0;
    __syncthreads();
    if (i < n) atomicAdd(&sum, a[i] * b[i]);
    int total = 0; if (hits < 9) atomicAdd(&hits, 1); if (atomicAdd(&count, 1) == 255) total = sum;
    if (total != 0) atomicAdd(out, total);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
