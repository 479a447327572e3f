// The maximum of floats that are not negative, by atomicMax on their bits.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void maximum_kernel(const float* x, float* best) {
    float value = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicMax(reinterpret_cast<int*>(best), __float_as_int(value));
}

int main() {
    float host[128], result, *x, *best;
    for (int i = 0; i < 128; i++) host[i] = i * 37 % 128;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&best, sizeof(float));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemset(best, 0, sizeof(float));
    maximum_kernel<<<2, 64>>>(x, best);
    cudaMemcpy(&result, best, sizeof(float), cudaMemcpyDeviceToHost);
    bool right = result == 127;
    puts(right ? "ok" : "wrong");
    return !right;
}
