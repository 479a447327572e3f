// The barrier between reading a 2D tile and writing it back is missing.
#include <cuda_runtime.h>

__global__ void smooth_kernel(float* out) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = x * y;
    __syncthreads();
    float left = tile[y][(x + 15) % 16];  //! race
    tile[y][x] = 0.5f * left + 1;         //! race
    __syncthreads();
    out[16 * y + x] = tile[x][y];
}

int main() {
    float* out;
    cudaMalloc(&out, 256 * sizeof(float));
    smooth_kernel<<<1, dim3(16, 16)>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
