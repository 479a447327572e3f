// The kernel is launched with more threads per block than its __launch_bounds__ allow, and the host ignores the error.
#include <cuda_runtime.h>

#define BOUNDS(threads) __launch_bounds__(threads, 2)

template <int warps>
__global__ void __launch_bounds__(warps * 32) fill_kernel(float* x) {
    x[threadIdx.x] = 1;
}

__global__ void BOUNDS(64) clear_kernel(float* x) { x[threadIdx.x] = 0; }

int main() {
    float* x;
    cudaMalloc(&x, 1024 * sizeof(float));
    clear_kernel<<<1, 64>>>(x);
    fill_kernel<4><<<1, 128>>>(x);
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, fill_kernel<4>);
    int grid, block, blocks;
    cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill_kernel<4>, 0, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill_kernel<4>, 160, 0);
    if (attributes.maxThreadsPerBlock != 128 || block != 128 || blocks != 0) return 1;
    fill_kernel<4><<<1, 128>>>(x);
    clear_kernel<<<1, 65>>>(x);
    if (cudaGetLastError() != cudaErrorLaunchOutOfResources) return 1;
    fill_kernel<4><<<1, dim3(43, 3)>>>(x);  //! failed_launch
    return 0;
}
