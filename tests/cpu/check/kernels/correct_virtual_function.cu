// A kernel creates an object with a virtual function in shared memory, and calls the function.
#include <cuda_runtime.h>

#include <cstdio>
#include <new>

struct Operation {
    __device__ virtual int apply(int value) const = 0;
};
struct Twice : Operation {
    __device__ int apply(int value) const override { return 2 * value; }
};

__global__ void apply_kernel(int* out) {
    __shared__ alignas(8) char memory[sizeof(Twice)];
    if (threadIdx.x == 0) new (memory) Twice;
    __syncthreads();
    out[threadIdx.x] = reinterpret_cast<const Operation*>(memory)->apply(threadIdx.x);
}

int main() {
    int host[32], *out, wrong = 0;
    cudaMalloc(&out, sizeof host);
    apply_kernel<<<1, 32>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; ++i) wrong += host[i] != 2 * i;
    puts(wrong ? "wrong" : "ok");
    cudaFree(out);
}
