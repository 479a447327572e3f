// Each block adds to the prefix of the block before it. There is a fence between the prefix and the flag that announces
// it, and one after the flag is read.
#include <cuda_runtime.h>

#include <cstdio>

struct Tile {
    int status, aggregate, prefix;
};

__device__ unsigned next_tile;

__global__ void chain_kernel(volatile Tile* tiles) {
    if (threadIdx.x > 0) return;
    const unsigned own = atomicAdd(&next_tile, 1u);
    tiles[own].aggregate = own + 1;
    __threadfence();
    tiles[own].status = 1;
    int before = 0;
    if (own > 0) {
        while (tiles[own - 1].status != 2) {
        }
        __threadfence();
        before = tiles[own - 1].prefix;
    }
    tiles[own].prefix = before + own + 1;
    __threadfence();
    tiles[own].status = 2;
}

int main() {
    Tile host[8], *tiles;
    cudaMalloc(&tiles, sizeof host);
    cudaMemset(tiles, 0, sizeof host);
    chain_kernel<<<8, 32>>>(tiles);
    cudaMemcpy(host, tiles, sizeof host, cudaMemcpyDeviceToHost);
    puts(host[7].prefix == 36 ? "ok" : "wrong");
    cudaFree(tiles);
}
