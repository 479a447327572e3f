// The host refills a buffer while the copy from it may still run.
#include <cuda_runtime.h>

int main() {
    int *x, *host;
    cudaMalloc(&x, 2 * 64 * sizeof(int));
    cudaMallocHost(&host, 64 * sizeof(int));
    for (int half = 0; half < 2; ++half) {
        for (int i = 0; i < 64; ++i) host[i] = half;  //! unfinished
        cudaMemcpyAsync(x + half * 64, host, 64 * sizeof(int), cudaMemcpyHostToDevice);  //! unfinished
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
