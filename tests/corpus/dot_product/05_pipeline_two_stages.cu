#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "labs/dot_product/lab.h"

constexpr unsigned kThreads = 128;

__global__ void dot_kernel(const int* a, const int* b, int* out, std::size_t n) {
    constexpr std::size_t stages = 2;
    __shared__ int tiles[stages][2][kThreads];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope::thread_scope_block, stages> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);

    const std::size_t batches = n / kThreads;
    const std::size_t first = blockIdx.x, step = gridDim.x;
    int sum = 0;
    for (std::size_t compute = first, fetch = first; compute < batches; compute += step) {
        for (; fetch < batches && fetch < compute + stages * step; fetch += step) {
            const unsigned s = (fetch / step) % stages;
            pipe.producer_acquire();
            cuda::memcpy_async(block, tiles[s][0], a + fetch * kThreads, sizeof(int) * kThreads, pipe);
            cuda::memcpy_async(block, tiles[s][1], b + fetch * kThreads, sizeof(int) * kThreads, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        const unsigned s = (compute / step) % stages;
        // reads a neighbour's element, to depend on the whole batch
        const unsigned t = (threadIdx.x + 37) % kThreads;
        sum += tiles[s][0][t] * tiles[s][1][t];
        pipe.consumer_release();
    }
    const std::size_t rest = batches * kThreads + threadIdx.x;
    if (blockIdx.x == 0 && rest < n) sum += a[rest] * b[rest];
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    const std::size_t batches = n / kThreads;
    const unsigned blocks = batches == 0 ? 1 : batches < 64 ? (unsigned)batches : 64;
    dot_kernel<<<blocks, kThreads>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
