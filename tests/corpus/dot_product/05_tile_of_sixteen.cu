#include <cooperative_groups.h>
#include "labs/dot_product/lab.h"

using namespace cooperative_groups;

template <typename Group>
__device__ int reduce_tile(const Group& g, int v)
{
    auto step = [&](int d) { v += g.shfl_xor(v, d); };
    for (int d = g.size() / 2; d >= 1; d /= 2) step(d);
    return v;
}

__global__ void dot16(const int* a, const int* b, int* out, size_t n)
{
    auto block = this_thread_block();
    auto warp = tiled_partition<32>(block);
    auto half = tiled_partition<16>(warp);
    __shared__ int halves[16];          // 256 threads are 16 half warps

    int v = 0;
    for (size_t i = blockIdx.x * (size_t)block.size() + block.thread_rank(); i < n; i += (size_t)gridDim.x * block.size())
        v += a[i] * b[i];
    v = reduce_tile(half, v);
    if (half.thread_rank() == 0) halves[block.thread_rank() / 16] = v;
    block.sync();

    if (block.thread_rank() < 16) {     // the whole first half warp
        v = reduce_tile(half, halves[half.thread_rank()]);
        if (half.thread_rank() == 0) atomicAdd(out, v);
    }
}

void dot_product(const int* a, const int* b, int* out, size_t n, void*)
{
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    dot16<<<64, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
