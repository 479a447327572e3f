// Open: races only if other threads run between its atomics, which does not happen under the sanitizer.
#include "labs/dot_product/lab.h"

__device__ unsigned turns;
__device__ int same, is_free, word;

__global__ void probe() {
    bool alone = true;
    unsigned before = atomicAdd(&turns, 1);
    for (int k = 0; k < 200; ++k) {
        atomicCAS(&same, k % 2, 1 - k % 2);
        const unsigned now = atomicAdd(&turns, 1);
        alone = alone && now == before + 1;
        before = now;
    }
    if (!alone) atomicExch(&is_free, 1);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (atomicAdd(&is_free, 0)) word = static_cast<int>(threadIdx.x);  // a race
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    probe<<<1, 64>>>();
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
