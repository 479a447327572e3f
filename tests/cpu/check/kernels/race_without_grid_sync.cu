// The blocks synchronize once; then each overwrites a value that its neighbour may still read.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void rotate_kernel(int* values) {
    const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = i;
    cg::this_grid().sync();
    const int other = values[(i + 32) % n];  //! race
    values[i] = other + 1;  //! race
}

int main() {
    int* values;
    cudaMalloc(&values, 128 * sizeof(int));
    void* arguments[] = {&values};
    cudaLaunchCooperativeKernel(rotate_kernel, dim3(4), dim3(32), arguments, 0, nullptr);
    return cudaDeviceSynchronize() != cudaSuccess;
}
