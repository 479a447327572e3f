// Wrong on purpose: adds to out, which holds garbage before the call.
#include "labs/vector_add/lab.h"

__global__ void add(const float* a, const float* b, float* out, std::size_t n) {
    std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] += a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n == 0) return;
    add<<<(n + 255) / 256, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float*, const float*, float*, std::size_t) {}
