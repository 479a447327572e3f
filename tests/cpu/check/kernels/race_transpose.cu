// A tile is read transposed without a barrier after it was written.
#include <cuda_runtime.h>

__global__ void transpose_kernel(const int* in, int* out) {
    __shared__ int tile[8][9];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[8 * y + x];  //! race
    int value = tile[x][y];      //! race
    out[8 * y + x] = value;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 64 * sizeof(int));
    transpose_kernel<<<1, dim3(8, 8)>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
