// Asynchronous copies of 8 or 16 bytes, or with a promised alignment of 16, at addresses that are aligned for an int.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

__global__ void copy_kernel(const int* x, int* out, int shift) {
    __shared__ alignas(16) int tile[64][4];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t][0], x + 4 * t + 2, 8);
    __pipeline_memcpy_async(&tile[t][3], x + 4 * t + 1, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __pipeline_memcpy_async(tile[t], x + 4 * t + shift, 16);  //! misaligned
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __pipeline_memcpy_async(&tile[t][shift], x + 4 * t, 8);  //! misaligned
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = tile[t][0];
}

__global__ void promise_kernel(const int* x, int* out, int shift) {
    __shared__ alignas(16) int tile[64];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, x, cuda::aligned_size_t<16>(64));
    cg::wait(block);
    cg::memcpy_async(block, tile, x + shift, cuda::aligned_size_t<4>(64));
    cg::wait(block);
    cg::memcpy_async(block, tile, x + shift, cuda::aligned_size_t<16>(64));  //! misaligned
    cg::wait(block);
    auto pipeline = cuda::make_pipeline();
    pipeline.producer_acquire();
    if (threadIdx.x == 0) cuda::memcpy_async(tile, x + shift, cuda::aligned_size_t<16>(16), pipeline);  //! misaligned
    pipeline.producer_commit();
    pipeline.consumer_wait();
    pipeline.consumer_release();
    block.sync();
    out[threadIdx.x] = tile[threadIdx.x & 15];
}

int main() {
    int *x, *out;
    cudaMalloc(&x, 260 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(x, 0, 260 * sizeof(int));
    copy_kernel<<<1, 64>>>(x, out, 1);
    promise_kernel<<<1, 64>>>(x, out, 1);
    return cudaDeviceSynchronize() != cudaSuccess;
}
