// After grid.sync(), a block reads shared memory that it never wrote. Another block wrote its own.
#include <cooperative_groups.h>

__global__ void kernel(int* sum) {
    __shared__ int never[32];
    if (blockIdx.x == 1) never[threadIdx.x] = 0;
    cooperative_groups::this_grid().sync();
    atomicAdd(sum, never[threadIdx.x]);  //! uninitialised
}

int main() {
    int* sum;
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    void* arguments[] = {&sum};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), 3, 32, arguments, 0, nullptr);
    return cudaDeviceSynchronize() != cudaSuccess;
}
