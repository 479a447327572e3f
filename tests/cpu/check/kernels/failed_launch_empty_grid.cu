// The number of blocks, 100 / 256, is rounded down to 0.
#include <cuda_runtime.h>

__global__ void fill_kernel(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}

int main() {
    const int n = 100;
    int host[n], *x;
    cudaMalloc(&x, n * sizeof(int));
    cudaMemset(x, 0, n * sizeof(int));
    fill_kernel<<<n / 256, 256>>>(x, n);  //! failed_launch
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    return 0;
}
