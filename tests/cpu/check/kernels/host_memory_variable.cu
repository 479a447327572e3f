// A kernel counts in a host variable whose address it got.
#include <cuda_runtime.h>

int launches = 5;

__global__ void count_kernel(int* count) {
    if (threadIdx.x == 0) *count = *count + 1;  //! host_memory
}

int main() {
    count_kernel<<<1, 32>>>(&launches);
    return cudaDeviceSynchronize() != cudaSuccess;
}
