// Pairs are copied as a whole, but the last one was never set.
#include <cuda_runtime.h>

struct Pair {
    float key, value;
};

__global__ void make_kernel(Pair* pairs) {
    if (threadIdx.x + 1 < blockDim.x) pairs[threadIdx.x] = {1.5f, 0.5f};
}

__global__ void reverse_kernel(const Pair* in, float* out) {
    const Pair pair = in[blockDim.x - 1 - threadIdx.x];  //! uninitialised
    out[threadIdx.x] = pair.key;
}

int main() {
    Pair* in;
    float* out;
    cudaMalloc(&in, 32 * sizeof(Pair));
    cudaMalloc(&out, 32 * sizeof(float));
    make_kernel<<<1, 32>>>(in);
    reverse_kernel<<<1, 32>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
