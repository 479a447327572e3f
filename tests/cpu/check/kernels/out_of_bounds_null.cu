// The kernel writes to memory that was never allocated.
#include <cuda_runtime.h>

__global__ void fill(int* out) {
    out[threadIdx.x] = 1;  //! out_of_bounds
}

int main() {
    int* out = nullptr;
    fill<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
