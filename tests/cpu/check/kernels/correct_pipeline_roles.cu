// Each thread of a block states its role in a pipeline. CUB's header alone supplies cuda::maximum.
#include <cooperative_groups.h>

#include <cstdio>
#include <cub/cub.cuh>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

constexpr int producers = 32, stages = 2, tile_count = 6;

__global__ void kernel(const int* x, int* most) {
    __shared__ int tiles[stages][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    __shared__ typename cub::BlockReduce<int, 96>::TempStorage storage;
    const bool produces = threadIdx.x % 3 == 0;
    const auto role = produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state, role);
    int mine = 0;
    for (int i = 0; i < tile_count; ++i) {
        if (produces) {
            pipe.producer_acquire();
            for (int k = threadIdx.x / 3; k < 64; k += producers)
                cuda::memcpy_async(&tiles[i % stages][k], &x[i * 64 + k], sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            const int value = tiles[i % stages][63 - (threadIdx.x - threadIdx.x / 3 - 1)];
            mine = value > mine ? value : mine;
            pipe.consumer_release();
        }
    }
    const int all = cub::BlockReduce<int, 96>(storage).Reduce(mine, cuda::maximum<>{});
    if (threadIdx.x == 0) *most = all;
}

int main() {
    constexpr int n = 64 * tile_count;
    int *x, *most, values[n], result = 0;
    for (int i = 0; i < n; ++i) values[i] = i * 7 % n;
    cudaMalloc(&x, sizeof values);
    cudaMalloc(&most, sizeof(int));
    cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
    kernel<<<1, 3 * producers>>>(x, most);
    cudaMemcpy(&result, most, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(most);
    std::puts(result == n - 1 ? "ok" : "wrong");
}
