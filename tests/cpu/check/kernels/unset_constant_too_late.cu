// The limits, a struct, are copied only after the kernel that reads them.
#include <cuda_runtime.h>

#include <cstdio>

struct Limits {
    int low, high;
};
__constant__ Limits limits;

__global__ void clamp(int* values) {
    const int high = limits.high;  //! unset_constant
    if (values[threadIdx.x] > high) values[threadIdx.x] = high;
}

int main() {
    const Limits host = {0, 7};
    int *values, first = -1;
    cudaMalloc(&values, 32 * sizeof(int));
    cudaMemset(values, 1, 32 * sizeof(int));
    clamp<<<1, 32>>>(values);
    cudaMemcpyToSymbol(limits, &host, sizeof host);
    cudaMemcpy(&first, values, sizeof first, cudaMemcpyDeviceToHost);
    cudaFree(values);
    return std::puts(first == 7 ? "ok" : "wrong") < 0;
}
