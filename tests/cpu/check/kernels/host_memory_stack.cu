// The kernel gets the address of an array on main's stack.
#include <cuda_runtime.h>

__global__ void weigh_kernel(const float* weights, float* out) {
    float weight = weights[threadIdx.x % 5];  //! host_memory
    out[threadIdx.x] = 2 * weight;
}

int main() {
    float weights[5] = {1, 2, 3, 2, 1}, *out;
    cudaMalloc(&out, 32 * sizeof(float));
    weigh_kernel<<<1, 32>>>(weights, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
