// All threads together allocate so much of the device's heap that the CPU backend must reuse freed memory.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void count(unsigned* bins) {
    unsigned* mine = new unsigned[64];
    for (int i = 0; i < 64; i++) mine[i] = 0;
    for (int i = 0; i < 64; i++) mine[(threadIdx.x + i * i) % 64]++;
    for (int i = 0; i < 64; i++)
        if (mine[i]) atomicAdd(&bins[i], mine[i]);
    delete[] mine;
}

int main() {
    const int threads = 512 * 256;
    unsigned host[64] = {}, *bins, sum = 0;
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 128 << 20);
    cudaMalloc(&bins, sizeof host);
    cudaMemset(bins, 0, sizeof host);
    count<<<threads / 256, 256>>>(bins);
    cudaMemcpy(host, bins, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(bins);
    for (unsigned bin : host) sum += bin;
    bool right = sum == 64u * threads;
    puts(right ? "ok" : "wrong");
    return !right;
}
