// Everything is freed, in a different order from the allocations.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void copy_kernel(const int* from, int* to) { to[threadIdx.x] = from[threadIdx.x]; }

int main() {
    int *from, *to, result = 0;
    cudaMalloc(&from, 32 * sizeof(int));
    cudaMalloc(&to, 32 * sizeof(int));
    cudaMemset(from, 1, 32 * sizeof(int));
    copy_kernel<<<1, 32>>>(from, to);
    cudaMemcpy(&result, to + 31, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(from);
    cudaFree(to);
    cudaDeviceReset();
    puts(result == 0x01010101 ? "ok" : "wrong");
    return result != 0x01010101;
}
