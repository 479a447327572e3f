// A kernel in one stream reads what a kernel in another one writes; no event orders them.
#include <cuda_runtime.h>

__global__ void fill_kernel(int* x) {
    x[threadIdx.x] = threadIdx.x;  //! unfinished
}

__global__ void sum_kernel(const int* x, int* sum) {
    atomicAdd(sum, x[threadIdx.x]);  //! unfinished
}

int main() {
    int *x, *sum;
    cudaStream_t one, other;
    cudaStreamCreate(&one);
    cudaStreamCreate(&other);
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    fill_kernel<<<1, 64, 0, one>>>(x);
    sum_kernel<<<1, 64, 0, other>>>(x, sum);
    return cudaDeviceSynchronize() != cudaSuccess;
}
