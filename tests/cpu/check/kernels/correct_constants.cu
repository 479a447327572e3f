// Constants that get their values in every way: by an initialiser, by two copies, by a copy of zeros, through their
// address, and by a copy from device memory.
#include <cuda_runtime.h>

#include <cstdio>

__constant__ int primes[4] = {2, 3, 5, 7};
__constant__ int halves[8], zeros[4], addressed[4], device_made[4];

__global__ void add_up(int* out) {
    int sum = 0;
    for (int i = 0; i < 4; ++i) sum += primes[i] + zeros[i] + addressed[i] + device_made[i];
    for (int i = 0; i < 8; ++i) sum += halves[i];
    *out = sum;
}

int main() {
    const int ones[4] = {1, 1, 1, 1}, none[4] = {};
    int *out, *made, sum = -1;
    void* place = nullptr;
    cudaMalloc(&out, sizeof(int));
    cudaMalloc(&made, sizeof ones);
    cudaMemcpy(made, ones, sizeof ones, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(halves, ones, sizeof ones);
    cudaMemcpyToSymbol(halves, ones, sizeof ones, sizeof ones);
    cudaMemcpyToSymbol(zeros, none, sizeof none);
    cudaGetSymbolAddress(&place, addressed);
    cudaMemcpy(place, ones, sizeof ones, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(device_made, made, sizeof ones, 0, cudaMemcpyDeviceToDevice);
    add_up<<<1, 1>>>(out);
    cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(made);
    return std::puts(sum == 17 + 8 + 4 + 4 ? "ok" : "wrong") < 0;
}
