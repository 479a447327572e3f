// All warps read the factor; the last thread to take a ticket clears it. Only its own warp's reads come before that.
#include <cuda_runtime.h>

__global__ void sum_kernel(const int* x, int* total) {
    __shared__ int tickets, factor;
    if (threadIdx.x == 0) {
        tickets = 0;
        factor = 1;
    }
    __syncthreads();
    const int ticket = atomicAdd(&tickets, 1);
    atomicAdd(total, factor * x[threadIdx.x]);  //! race
    __syncwarp();
    if (ticket == 127) factor = 0;  //! race
}

int main() {
    int *x, *total;
    cudaMalloc(&x, 128 * sizeof(int));
    cudaMalloc(&total, sizeof(int));
    cudaMemset(x, 1, 128 * sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    sum_kernel<<<1, 128>>>(x, total);
    return cudaDeviceSynchronize() != cudaSuccess;
}
