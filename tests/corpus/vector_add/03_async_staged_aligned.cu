#include <cooperative_groups.h>
#include <cuda/barrier>

#include "labs/vector_add/lab.h"

#pragma nv_diag_suppress static_var_with_dynamic_init

constexpr int threads = 128, per_block = 4 * threads;

__global__ void add_tiles(const float* a, const float* b, float* out, std::size_t tiles) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(16) float sa[per_block];
    __shared__ alignas(16) float sb[per_block];
    __shared__ barrier bar;
    auto block = cooperative_groups::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const auto size = cuda::aligned_size_t<16>(sizeof(float) * per_block);
        cuda::memcpy_async(block, sa, a + tile * per_block, size, bar);
        cuda::memcpy_async(block, sb, b + tile * per_block, size, bar);
        bar.arrive_and_wait();
        float4 u = reinterpret_cast<const float4*>(sa)[threadIdx.x], v = reinterpret_cast<const float4*>(sb)[threadIdx.x];
        reinterpret_cast<float4*>(out + tile * per_block)[threadIdx.x] =
            make_float4(u.x + v.x, u.y + v.y, u.z + v.z, u.w + v.w);
        bar.arrive_and_wait();  // the tiles are free again
    }
}

__global__ void add_rest(const float* a, const float* b, float* out, std::size_t first, std::size_t n) {
    const std::size_t i = first + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    const std::size_t tiles = n / per_block;
    if (tiles) add_tiles<<<tiles < 200 ? (unsigned)tiles : 200u, threads>>>(a, b, out, tiles);
    CUDA_CHECK(cudaGetLastError());
    if (n % per_block) add_rest<<<1, per_block>>>(a, b, out, tiles * per_block, n);
    CUDA_CHECK(cudaGetLastError());
}
