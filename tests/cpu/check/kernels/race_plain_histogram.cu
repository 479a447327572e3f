// bins[v]++ without an atomic.
#include <cuda_runtime.h>

__global__ void histogram_kernel(const int* values, int* out) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[values[threadIdx.x]]++;  //! race
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
    int host[128], *values, *out;
    for (int i = 0; i < 128; i++) host[i] = i * i % 16;
    cudaMalloc(&values, sizeof(host));
    cudaMalloc(&out, 16 * sizeof(int));
    cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
    histogram_kernel<<<1, 128>>>(values, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
