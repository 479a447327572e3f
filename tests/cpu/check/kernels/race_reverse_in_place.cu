// An array is reversed in place: each element is read by one thread and written by another.
#include <cuda_runtime.h>

__global__ void reverse_kernel(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = x[n - 1 - i];  //! race
    x[i] = value;              //! race
}

int main() {
    const int n = 128;
    int host[n], *x;
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&x, sizeof(host));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    reverse_kernel<<<2, 64>>>(x, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
