// The size of the copy is in elements, not bytes, so only a quarter of the table is copied.
#include <cuda_runtime.h>

#include <cstdio>

__constant__ int table[32];

__global__ void look_up(int* out) {
    out[threadIdx.x] = table[threadIdx.x];  //! unset_constant
}

int main() {
    int host[32], *out, last = -1;
    for (int i = 0; i < 32; ++i) host[i] = i;
    cudaMalloc(&out, sizeof host);
    cudaMemcpyToSymbol(table, host, 32);
    look_up<<<1, 32>>>(out);
    cudaMemcpy(&last, out + 31, sizeof last, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return std::puts(last == 31 ? "ok" : "wrong") < 0;
}
