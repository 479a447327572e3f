// __syncwarp orders no threads of different warps.
#include <cuda_runtime.h>

__global__ void shift_kernel(int* out) {
    __shared__ int values[128];
    int t = threadIdx.x;
    values[t] = t;  //! race
    __syncwarp();
    int left = t > 0 ? values[t - 1] : 0;  //! race
    out[t] = left;
}

int main() {
    int* out;
    cudaMalloc(&out, 128 * sizeof(int));
    shift_kernel<<<1, 128>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
