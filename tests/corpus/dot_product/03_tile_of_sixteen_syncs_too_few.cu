#include <cooperative_groups.h>

#include "labs/dot_product/lab.h"

namespace cg = cooperative_groups;

__global__ void dot_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int s[256];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    const unsigned t = block.thread_rank();
    const std::size_t i = blockIdx.x * std::size_t(256) + t;
    s[t] = i < n ? a[i] * b[i] : 0;
    block.sync();
    for (unsigned half = 128; half >= 64; half /= 2) {
        if (t < half) s[t] += s[t + half];
        block.sync();
    }
    if (t < 32) {
        for (unsigned half = 32; half > 0; half /= 2) {
            int other = s[t + half];
            tile.sync();
            if (t < half) s[t] += other;
            tile.sync();
        }
    }
    if (t == 0) atomicAdd(out, s[0]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_kernel<<<unsigned((n + 255) / 256), 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
