// The host adds up the blocks' sums in device memory.
#include <cuda_runtime.h>

__global__ void block_sum_kernel(const int* x, int* sums) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

int add_up(const int* sums, int blocks) {
    int total = 0;
    for (int i = 0; i < blocks; i++) {
        total += sums[i];  //! device_memory
    }
    return total;
}

int main() {
    int *x, *sums;
    cudaMalloc(&x, 512 * sizeof(int));
    cudaMalloc(&sums, 4 * sizeof(int));
    cudaMemset(x, 0, 512 * sizeof(int));
    block_sum_kernel<<<4, 128>>>(x, sums);
    cudaDeviceSynchronize();
    return add_up(sums, 4);
}
