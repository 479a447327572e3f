// Two buffers change roles from launch to launch, which is correct because launches run in order.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void smooth_kernel(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i > 0 ? i - 1 : 0] + in[i < n - 1 ? i + 1 : n - 1];
}

int main() {
    const int n = 100;
    int host[n], *a, *b;
    for (int i = 0; i < n; i++) host[i] = 1;
    cudaMalloc(&a, sizeof(host));
    cudaMalloc(&b, sizeof(host));
    cudaMemcpy(a, host, sizeof(host), cudaMemcpyHostToDevice);
    for (int round = 0; round < 2; round++) {
        smooth_kernel<<<2, 64>>>(a, b, n);
        smooth_kernel<<<2, 64>>>(b, a, n);
    }
    cudaMemcpy(host, a, sizeof(host), cudaMemcpyDeviceToHost);
    bool right = host[0] == 16 && host[50] == 16;
    puts(right ? "ok" : "wrong");
    return !right;
}
