// Structs are copied as a whole, although no thread has initialised the padding between their members.
#include <cuda_runtime.h>

#include <cstdio>

struct Entry {
    char name;
    double value;
    short count;
};

__global__ void make_kernel(Entry* entries) {
    entries[threadIdx.x].name = 'a';
    entries[threadIdx.x].value = 0.5 * threadIdx.x;
    entries[threadIdx.x].count = threadIdx.x;
}

__global__ void reverse_kernel(const Entry* in, Entry* out) { out[threadIdx.x] = in[blockDim.x - 1 - threadIdx.x]; }

int main() {
    Entry host[32], *in, *out;
    cudaMalloc(&in, sizeof(host));
    cudaMalloc(&out, sizeof(host));
    make_kernel<<<1, 32>>>(in);
    reverse_kernel<<<1, 32>>>(in, out);
    cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
    bool right = host[1].value == 15 && host[1].count == 30;
    puts(right ? "ok" : "wrong");
    return !right;
}
