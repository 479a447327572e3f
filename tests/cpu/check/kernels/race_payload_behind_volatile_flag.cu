// Each block adds to the prefix of the block before it. A fence is between the aggregate and its flag, but none is
// between the prefix and the flag that announces it.
#include <cuda_runtime.h>

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
        before = tiles[own - 1].prefix;  //! race
    }
    tiles[own].prefix = before + own + 1;  //! race
    tiles[own].status = 2;
}

int main() {
    Tile* tiles;
    cudaMalloc(&tiles, 8 * sizeof(Tile));
    cudaMemset(tiles, 0, 8 * sizeof(Tile));
    chain_kernel<<<8, 32>>>(tiles);
    const bool failed = cudaDeviceSynchronize() != cudaSuccess;
    cudaFree(tiles);
    return failed;
}
