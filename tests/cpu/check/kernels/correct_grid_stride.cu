// Each element is read and written in place by one thread.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void double_kernel(float* x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = 2 * x[i];
}

int main() {
    const int n = 1000;
    float host[n], *x;
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&x, sizeof(host));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    double_kernel<<<3, 64>>>(x, n);
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    bool right = host[1] == 2 && host[n - 1] == 2 * (n - 1);
    puts(right ? "ok" : "wrong");
    return !right;
}
