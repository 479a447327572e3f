// The copy to the device omits the last element.
#include <cuda_runtime.h>

__global__ void square_kernel(const int* x, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int value = x[i];  //! uninitialised
        out[i] = value * value;
    }
}

int main() {
    const int n = 100;
    int host[n];
    for (int i = 0; i < n; i++) host[i] = i;
    int *x, *out;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMemcpy(x, host, (n - 1) * sizeof(int), cudaMemcpyHostToDevice);
    square_kernel<<<2, 64>>>(x, out, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
