// The tile's halo is never loaded.
#include <cuda_runtime.h>

__global__ void blur_kernel(const float* x, float* out) {
    __shared__ float tile[66];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t + 1] = x[i];
    __syncthreads();
    out[i] = tile[t] + tile[t + 1] + tile[t + 2];  //! uninitialised
}

int main() {
    float *x, *out;
    cudaMalloc(&x, 256 * sizeof(float));
    cudaMalloc(&out, 256 * sizeof(float));
    cudaMemset(x, 0, 256 * sizeof(float));
    blur_kernel<<<4, 64>>>(x, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
