// A function that is not inlined and returns a struct reads one element past the end.
#include <cuda_runtime.h>

struct Neighbours {
    float left, middle, right;
};

__device__ __noinline__ Neighbours around(const float* values, int i) {
    Neighbours found;
    found.left = values[i];
    found.middle = values[i + 1];
    found.right = values[i + 2];  //! out_of_bounds
    return found;
}

__global__ void smooth_kernel(const float* in, float* out) {
    Neighbours near = around(in, threadIdx.x);
    out[threadIdx.x] = (near.left + near.middle + near.right) / 3;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 65 * sizeof(float));
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMemset(in, 0, 65 * sizeof(float));
    smooth_kernel<<<1, 64>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
