// Pairs are copied as a whole, and the last one was never made.
#include <cuda_runtime.h>

struct Entry {
    float key;
    char name;
    double value;
};

__global__ void make_kernel(Entry* entries) {
    if (threadIdx.x + 1 < blockDim.x) entries[threadIdx.x] = {1.5f, 'a', 0.5};
}

__global__ void reverse_kernel(const Entry* in, Entry* out) {
    out[threadIdx.x] = in[blockDim.x - 1 - threadIdx.x];  //! uninitialised
}

int main() {
    Entry *in, *out;
    cudaMalloc(&in, 32 * sizeof(Entry));
    cudaMalloc(&out, 32 * sizeof(Entry));
    make_kernel<<<1, 32>>>(in);
    reverse_kernel<<<1, 32>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
