// Threads repeatedly check whether another one has found the value. The flag is volatile, so that they see the change.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void find_kernel(const int* x, int wanted, int* where) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += 64) {
        if (*static_cast<volatile int*>(&found)) break;
        if (x[i] == wanted) {
            where[0] = i;
            atomicExch(&found, 1);
        }
    }
}

int main() {
    int *x, *where;
    cudaMalloc(&x, 1024 * sizeof(int));
    cudaMalloc(&where, sizeof(int));
    cudaMemset(x, 0, 1024 * sizeof(int));
    const int one = 1;
    cudaMemcpy(x + 77, &one, sizeof(int), cudaMemcpyHostToDevice);
    find_kernel<<<1, 64>>>(x, 1, where);
    int at = 0;
    cudaMemcpy(&at, where, sizeof(int), cudaMemcpyDeviceToHost);
    if (at == 77) puts("ok");
    cudaFree(x);
    cudaFree(where);
    return 0;
}
