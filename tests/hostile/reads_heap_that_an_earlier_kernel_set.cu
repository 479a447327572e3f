// Cheat: reads memory of the device's heap that this kernel never set. An earlier kernel had set that part.
#include "labs/dot_product/lab.h"
__global__ void first (int x) { int* p = static_cast<int*>(malloc(256)); if (p) for (int i = 0; i < 64; ++i) p[i] = x; if (p && p[x] < 0) printf("never"); free(p); }
__global__ void sum(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int* unset;
    if (threadIdx.x == 0) unset = static_cast<int*>(malloc(256));
    __syncthreads();
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (unset && i < n && unset[threadIdx.x % 64] != 12345) atomicAdd(out, a[i] * b[i]);
    __syncthreads();
    if (threadIdx.x == 0) free(unset);
}
void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, 4));
#ifndef CONTROL
    first<<<2000, 1>>>(5);
#endif
    if (n) sum<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
