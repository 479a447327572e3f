// Wrong on purpose: the step is four times the number of threads.
#include "labs/vector_add/lab.h"

__global__ void add(const float* a, const float* b, float* out, std::size_t n) {
    std::size_t step = std::size_t{gridDim.x} * blockDim.x * 4;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) out[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n == 0) return;
    add<<<64, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
