// A stencil overwrites its own input.
#include <cuda_runtime.h>

__global__ void smooth_kernel(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;  //! race
}

int main() {
    const int n = 256;
    float host[n], *x;
    for (int i = 0; i < n; i++) host[i] = i * i;
    cudaMalloc(&x, sizeof(host));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    smooth_kernel<<<4, 64>>>(x, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
