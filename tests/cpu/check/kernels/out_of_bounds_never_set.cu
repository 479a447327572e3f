// The pointer never gets a value: it is set in a branch that is not taken.
#include <cuda_runtime.h>

__global__ void fill(int* out) {
    out[threadIdx.x] = 1;  //! out_of_bounds
}

int main(int count, char**) {
    int* out;
    if (count > 1) cudaMalloc(&out, 32 * sizeof(int));
    fill<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
