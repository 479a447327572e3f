// In a 2D grid, the threads outside the picture return; the others call a function that contains the barrier.
#include <cuda_runtime.h>

__device__ int sum_row(const int* row) {
    __syncthreads();  //! return_before_barrier
    return row[0] + row[1];
}

__global__ void rows_kernel(int* out, int width, int height) {
    __shared__ int tile[8][8];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= width || y >= height) return;
    tile[threadIdx.y][threadIdx.x] = x + y;
    out[y * width + x] = sum_row(tile[threadIdx.y]);
}

int main() {
    const int width = 20, height = 13;
    int* out;
    cudaMalloc(&out, width * height * sizeof(int));
    rows_kernel<<<dim3(3, 2), dim3(8, 8)>>>(out, width, height);
    return cudaDeviceSynchronize() != cudaSuccess;
}
