// Weights are copied "to a symbol" that is a function's parameter, not a device variable.
#include <cuda_runtime.h>

__constant__ float weights[5];

__global__ void weigh_kernel(float* out) { out[threadIdx.x] = weights[threadIdx.x]; }

void prepare(const float* weights, const float* values) {
    cudaMemcpyToSymbol(weights, values, 5 * sizeof(float));  //! copy_direction
}

int main() {
    const float values[5] = {1, 2, 3, 2, 1};
    float* out;
    cudaMalloc(&out, 5 * sizeof(float));
    prepare(out, values);
    cudaMemcpyToSymbol(weights, values, sizeof(values));
    weigh_kernel<<<1, 5>>>(out);
    return cudaFree(out) != cudaSuccess;
}
