// Nothing is ever copied to the weights.
#include <cuda_runtime.h>

#include <cstdio>

__constant__ float weights[4];

__global__ void weigh(const float* values, float* out) {
    out[threadIdx.x] = values[threadIdx.x] * weights[threadIdx.x % 4];  //! unset_constant
}

int main() {
    float *values, *out, first = -1;
    cudaMalloc(&values, 32 * sizeof(float));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(values, 0x3f, 32 * sizeof(float));
    weigh<<<1, 32>>>(values, out);
    cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost);
    cudaFree(values);
    cudaFree(out);
    return std::puts(first != 0 ? "ok" : "wrong") < 0;
}
