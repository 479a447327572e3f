// Wrong on purpose: the cut-off is n, so the GPU only computes products, and the CPU computes all sums.
#include <vector>

#include "labs/dot_product/lab.h"

__global__ void multiply(const int* a, const int* b, int* products, std::size_t n) {
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) products[i] = a[i] * b[i];
}

std::size_t dot_product_scratch_bytes(std::size_t n) { return n * sizeof(int); }

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n == 0) return;
    int* values = static_cast<int*>(scratch);
    std::size_t count = n;
    multiply<<<(n + 255) / 256, 256>>>(a, b, values, n);
    CUDA_CHECK(cudaGetLastError());
    std::vector<unsigned> rest(count);
    CUDA_CHECK(cudaMemcpy(rest.data(), values, count * sizeof(int), cudaMemcpyDeviceToHost));
    unsigned sum = 0;
    for (unsigned value : rest) sum += value;
    CUDA_CHECK(cudaMemcpy(out, &sum, sizeof(int), cudaMemcpyHostToDevice));
}
