// Functions that are not inlined write and read a struct in shared memory, and the barrier between them is missing.
#include <cuda_runtime.h>

struct Cell {
    int row, column, depth;
};

__device__ __noinline__ void put(Cell* cells, Cell cell) {
    cells[threadIdx.x] = cell;  //! race
}
__device__ __noinline__ Cell get(const Cell* cells) {
    return cells[blockDim.x - 1 - threadIdx.x];  //! race
}

__global__ void mirror_kernel(Cell* out) {
    __shared__ Cell cells[64];
    put(cells, {int(threadIdx.x), 1, 2});
    out[threadIdx.x] = get(cells);
}

int main() {
    Cell* out;
    cudaMalloc(&out, 64 * sizeof(Cell));
    mirror_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
