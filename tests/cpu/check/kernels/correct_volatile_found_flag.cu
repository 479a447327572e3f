// Blocks take items from a counter until one finds the value. No other data depends on the flag, so it needs no fence.
#include <cuda_runtime.h>

#include <cstdio>

__device__ unsigned next_item;

__global__ void find_kernel(const int* items, unsigned n, int key, volatile int* found) {
    while (*found < 0) {
        const unsigned i = atomicAdd(&next_item, 1u);
        if (i >= n) return;
        if (items[i] == key) *found = i;
    }
}

int main() {
    int items[100], *d_items, *found, host = -1;
    for (int i = 0; i < 100; ++i) items[i] = 3 * i;
    cudaMalloc(&d_items, sizeof items);
    cudaMalloc(&found, sizeof(int));
    cudaMemcpy(d_items, items, sizeof items, cudaMemcpyHostToDevice);
    cudaMemcpy(found, &host, sizeof host, cudaMemcpyHostToDevice);
    find_kernel<<<4, 32>>>(d_items, 100, 3 * 40, found);
    cudaMemcpy(&host, found, sizeof host, cudaMemcpyDeviceToHost);
    puts(host == 40 ? "ok" : "wrong");
    cudaFree(d_items);
    cudaFree(found);
}
