// Pinned memory from two functions of CUDA: of each, one buffer is freed and one is not.
#include <cuda_runtime.h>

int main() {
    int* pinned[4];
    cudaMallocHost(&pinned[0], 8 * sizeof(int));
    cudaMallocHost(&pinned[1], 8 * sizeof(int));  //! leak
    cudaHostAlloc(&pinned[2], 8 * sizeof(int), cudaHostAllocMapped);
    cudaHostAlloc(reinterpret_cast<void**>(&pinned[3]), 8 * sizeof(int), 0);  //! leak
    cudaFreeHost(pinned[0]);
    cudaFreeHost(pinned[2]);
    return cudaDeviceReset() != cudaSuccess;
}
