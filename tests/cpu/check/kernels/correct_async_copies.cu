// Kernels wait for their asynchronous copies in each of CUDA's ways.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

constexpr int threads = 64, tile_count = 4;

__global__ void group_kernel(const int* x, int* sum) {
    __shared__ int tiles[2][threads];
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tiles[0], x, sizeof tiles[0]);
    for (int i = 0; i < tile_count; ++i) {
        if (i + 1 < tile_count) {
            cg::memcpy_async(block, tiles[(i + 1) % 2], x + (i + 1) * threads, sizeof tiles[0]);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        atomicAdd(sum, tiles[i % 2][threads - 1 - threadIdx.x]);
        block.sync();
    }
}

__global__ void primitives_kernel(const int* x, int* sum) {
    __shared__ int tiles[2][threads];
    __pipeline_memcpy_async(&tiles[0][threadIdx.x], &x[threadIdx.x], sizeof(int));
    __pipeline_commit();
    for (int i = 0; i < tile_count; ++i) {
        if (i + 1 < tile_count)
            __pipeline_memcpy_async(&tiles[(i + 1) % 2][threadIdx.x], &x[(i + 1) * threads + threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        atomicAdd(sum, tiles[i % 2][threads - 1 - threadIdx.x]);
        __syncthreads();
    }
}

__global__ void thread_pipeline_kernel(const int* x, int* sum) {
    __shared__ int tiles[2][threads];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    for (int i = 0; i <= tile_count; ++i) {
        pipe.producer_acquire();
        if (i < tile_count) cuda::memcpy_async(&tiles[i % 2][threadIdx.x], &x[i * threads + threadIdx.x], 4, pipe);
        pipe.producer_commit();
        if (i == 0) continue;
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        atomicAdd(sum, tiles[(i - 1) % 2][threadIdx.x]);
        pipe.consumer_release();
    }
}

__global__ void block_pipeline_kernel(const int* x, int* sum) {
    __shared__ int tiles[2][threads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    const cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    for (int i = 0, next = 0; i < tile_count; ++i) {
        for (; next < tile_count && next < i + 2; ++next) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tiles[next % 2], x + next * threads, sizeof tiles[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        atomicAdd(sum, tiles[i % 2][threads - 1 - threadIdx.x]);
        pipe.consumer_release();
    }
}

__global__ void barrier_kernel(const int* x, int* sum) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    alignas(16) __shared__ int tile[threads];
    const cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, threads);
    block.sync();
    for (int i = 0; i < tile_count; ++i) {
        cuda::memcpy_async(block, tile, x + i * threads, cuda::aligned_size_t<16>(sizeof tile), barrier);
        barrier.arrive_and_wait();
        atomicAdd(sum, tile[threads - 1 - threadIdx.x]);
        block.sync();
    }
}

int main() {
    constexpr int n = threads * tile_count;
    int *x, *sum, values[n], result = 0;
    for (int& value : values) value = 1;
    cudaMalloc(&x, sizeof values);
    cudaMalloc(&sum, sizeof(int));
    cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
    cudaMemset(sum, 0, sizeof(int));
    group_kernel<<<2, threads>>>(x, sum);
    primitives_kernel<<<2, threads>>>(x, sum);
    thread_pipeline_kernel<<<2, threads>>>(x, sum);
    block_pipeline_kernel<<<2, threads>>>(x, sum);
    barrier_kernel<<<2, threads>>>(x, sum);
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(sum);
    std::puts(result == 10 * n ? "ok" : "wrong");
}
