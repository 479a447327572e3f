// The tile's rows are 16 wide, and the halo's column is the seventeenth.
#include <cuda_runtime.h>

__global__ void halo_kernel(const float* in, float* out) {
    __shared__ float tile[17][16];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x + 1] = in[y * 16 + x];  //! out_of_bounds
    __syncthreads();
    out[y * 16 + x] = tile[y][x > 0 ? x : 1];
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 256 * sizeof(float));
    cudaMalloc(&out, 256 * sizeof(float));
    cudaMemset(in, 0, 256 * sizeof(float));
    halo_kernel<<<1, dim3(16, 16)>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
