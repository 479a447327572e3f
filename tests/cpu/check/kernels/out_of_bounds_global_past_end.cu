// Threads past the array's end have no guard.
#include <cuda_runtime.h>

__global__ void fill_kernel(int* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;  //! out_of_bounds
}

int main() {
    int* out;
    cudaMalloc(&out, 1000 * sizeof(int));
    fill_kernel<<<4, 256>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
