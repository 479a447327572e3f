// Every access is between barriers, but the reset and the next round's counting are between the same two.
#include <cuda_runtime.h>

__global__ void rounds_kernel(const int* values, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        atomicAdd(&bins[values[threadIdx.x]], 1);  //! atomic_race
        __syncthreads();
        if (threadIdx.x < 8) bins[threadIdx.x] = round;  //! atomic_race
    }
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
    int host[64], *values, *out;
    for (int i = 0; i < 64; i++) host[i] = (i + 3) % 8;
    cudaMalloc(&values, sizeof(host));
    cudaMalloc(&out, 8 * sizeof(int));
    cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
    rounds_kernel<<<1, 64>>>(values, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
