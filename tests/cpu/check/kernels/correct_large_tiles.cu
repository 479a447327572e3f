// Tiles of 64 threads fill and read their own part of shared memory, with a barrier of the tile alone.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void swap_kernel(int* out) {
    __shared__ int values[256];
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    for (int round = 0; round < 3; ++round) {
        values[threadIdx.x] = threadIdx.x + round;
        tile.sync();
        out[threadIdx.x] = values[threadIdx.x ^ 63];
        tile.sync();
    }
}

int main() {
    int host[256], *out, wrong = 0;
    cudaMalloc(&out, sizeof host);
    swap_kernel<<<1, 256>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 256; ++i) wrong += host[i] != (i ^ 63) + 2;
    puts(wrong ? "wrong" : "ok");
    cudaFree(out);
}
