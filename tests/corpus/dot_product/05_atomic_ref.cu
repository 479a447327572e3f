#include <cuda/atomic>

#include "labs/dot_product/lab.h"

// Modern C++ instead of atomicAdd.
__global__ void dot(const int* a, const int* b, unsigned* out, std::size_t n) {
    unsigned sum{};
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n; i += std::size_t{blockDim.x} * gridDim.x)
        sum += static_cast<unsigned>(a[i]) * static_cast<unsigned>(b[i]);
    for (unsigned delta = 16u; delta != 0u; delta >>= 1) sum += __shfl_xor_sync(~0u, sum, delta);
    if (threadIdx.x % 32u == 0u) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> total{*out};
        total.fetch_add(sum, cuda::memory_order_relaxed);
    }
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof *out));
    dot<<<216, 128>>>(a, b, reinterpret_cast<unsigned*>(out), n);
    CUDA_CHECK(cudaGetLastError());
}
