// A minimum in shared memory is read before the atomic, to save most atomics.
#include <cuda_runtime.h>

__global__ void minimum_kernel(const int* values, int* out) {
    __shared__ int best;
    if (threadIdx.x == 0) best = 1 << 30;
    __syncthreads();
    int value = values[threadIdx.x];
    if (value < best) atomicMin(&best, value);  //! note
    __syncthreads();
    if (threadIdx.x == 0) *out = best;
}

int main() {
    int host[64], *values, *out;
    for (int i = 0; i < 64; i++) host[i] = 1000 - i;
    cudaMalloc(&values, sizeof(host));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
    minimum_kernel<<<1, 64>>>(values, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
