// A tile in shared memory has room for a halo of two elements, but the kernel loads four.
#include <cuda_runtime.h>

__global__ void smooth_kernel(const int* in, int* out) {
    __shared__ int tile[64 + 2];
    int t = threadIdx.x;
    tile[t] = in[t];
    if (t < 4) tile[64 + t] = in[64 + t];  //! out_of_bounds
    __syncthreads();
    out[t] = tile[t] + tile[t + 1] + tile[t + 2];
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 68 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(in, 0, 68 * sizeof(int));
    smooth_kernel<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
