// The launch's size of dynamic shared memory omits the element that pads each row of the tile.
#include <cuda_runtime.h>

__global__ void transpose_kernel(const float* in, float* out) {
    extern __shared__ float tile[];
    int x = threadIdx.x, y = threadIdx.y, pitch = blockDim.x + 1;
    tile[y * pitch + x] = in[y * blockDim.x + x];  //! out_of_bounds
    __syncthreads();
    out[y * blockDim.x + x] = tile[x * pitch + y];  //! out_of_bounds
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 256 * sizeof(float));
    cudaMalloc(&out, 256 * sizeof(float));
    cudaMemset(in, 0, 256 * sizeof(float));
    transpose_kernel<<<1, dim3(16, 16), 16 * 16 * sizeof(float)>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
