// Threads of a block exchange values through global memory, with barriers; a vote ends the loop for all of them.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void sort_kernel(int* x) {
    int t = threadIdx.x;
    for (int round = 0; true; round++) {
        bool swapped = false;
        int left = 2 * t + round % 2;
        if (left + 1 < 2 * blockDim.x && x[left] > x[left + 1]) {
            int value = x[left];
            x[left] = x[left + 1];
            x[left + 1] = value;
            swapped = true;
        }
        if (!__syncthreads_or(swapped) && round > 0) break;
        if (round > 4 * blockDim.x) break;
    }
}

int main() {
    int host[64], *x;
    for (int i = 0; i < 64; i++) host[i] = 63 - i;
    cudaMalloc(&x, sizeof(host));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    sort_kernel<<<1, 32>>>(x);
    cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    bool right = true;
    for (int i = 0; i < 64; i++) right = right && host[i] == i;
    puts(right ? "ok" : "wrong");
    return !right;
}
