// A struct that is passed by value is read from a place beyond the array.
#include <cuda_runtime.h>

struct Pair {
    int first;
    float weights[5];
};

__device__ __noinline__ float weigh(Pair pair) { return pair.first * pair.weights[4]; }

__global__ void weigh_kernel(const Pair* pairs, float* out) {
    out[threadIdx.x] = weigh(pairs[threadIdx.x + 1]);  //! out_of_bounds
}

int main() {
    Pair* pairs;
    float* out;
    cudaMalloc(&pairs, 32 * sizeof(Pair));
    cudaMalloc(&out, 32 * sizeof(float));
    cudaMemset(pairs, 0, 32 * sizeof(Pair));
    weigh_kernel<<<1, 32>>>(pairs, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
