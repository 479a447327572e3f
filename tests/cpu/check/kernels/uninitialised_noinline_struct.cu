// A function that is not inlined returns a struct of two values from device memory; only one of them was written.
#include <cuda_runtime.h>

struct Limits {
    float low, high;
};

__device__ __noinline__ Limits limits_of(const float* lows, const float* highs, int i) {
    Limits limits = {lows[i], highs[i]};  //! uninitialised
    return limits;
}

__global__ void clamp_kernel(const float* lows, const float* highs, float* values) {
    Limits limits = limits_of(lows, highs, threadIdx.x);
    values[threadIdx.x] = fminf(fmaxf(threadIdx.x, limits.low), limits.high);
}

int main() {
    float *lows, *highs, *values;
    cudaMalloc(&lows, 32 * sizeof(float));
    cudaMalloc(&highs, 32 * sizeof(float));
    cudaMalloc(&values, 32 * sizeof(float));
    cudaMemset(lows, 0, 32 * sizeof(float));
    clamp_kernel<<<1, 32>>>(lows, highs, values);
    return cudaDeviceSynchronize() != cudaSuccess;
}
