// tile[y][x + 1] runs from one row into the next, still inside the array.
#include <cuda_runtime.h>

__global__ void right_kernel(int* out) {
    __shared__ int tile[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = 8 * y + x;
    __syncthreads();
    int right = 0;
    if (y < 7) right = tile[y][x + 1];  //! out_of_bounds
    out[8 * y + x] = right;
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    right_kernel<<<1, dim3(8, 8)>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
