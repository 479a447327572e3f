// The value 64 has no bin.
#include <cuda_runtime.h>

__global__ void histogram_kernel(const int* values, int* out) {
    __shared__ int bins[64];
    bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[values[threadIdx.x]], 1);  //! out_of_bounds
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
    int host[64];
    for (int i = 0; i < 64; i++) host[i] = i + 1;
    int *values, *out;
    cudaMalloc(&values, sizeof(host));
    cudaMalloc(&out, sizeof(host));
    cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
    histogram_kernel<<<1, 64>>>(values, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
