// Each thread writes an element and reads its neighbour's, without a barrier in between.
#include <cuda_runtime.h>

__global__ void rotate_kernel(int* out) {
    __shared__ int values[128];
    values[threadIdx.x] = threadIdx.x;                  //! race
    int next = values[(threadIdx.x + 1) % blockDim.x];  //! race
    out[threadIdx.x] = next;
}

int main() {
    int* out;
    cudaMalloc(&out, 128 * sizeof(int));
    rotate_kernel<<<1, 128>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
