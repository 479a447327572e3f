// All rows have the same length; the last one extends beyond the array.
#include <cuda_runtime.h>

__global__ void right_kernel(int* out) {
    __shared__ float tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = x;
    __syncthreads();
    float right = tile[y][x + 1];  //! out_of_bounds
    out[16 * y + x] = int(right);
}

int main() {
    int* out;
    cudaMalloc(&out, 256 * sizeof(int));
    right_kernel<<<1, dim3(16, 16)>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
