// Code for GPUs only is inside guards; strings and comments stay as they are.
#include <cstdio>
#include <cstring>

/* old version:
   kernel<<<1, 1>>>(p); __shared__ float x[3]; asm("trap;");
*/
// texture<float, 2> tex; \
   thrust::sort(a, b);

#if 0
#include <thrust/sort.h>
texture<float, 1> tex;
it's not even C++ here: kernel<<<
#endif

#ifndef __WARPLAB_CPU__
__device__ unsigned lane() { unsigned l; asm("mov.u32 %0, %laneid;" : "=r"(l)); return l; }
#else
__device__ unsigned lane() { return threadIdx.x % 32; }
#endif

#if !defined(__WARPLAB_CPU__) && __CUDACC_VER_MAJOR__ >= 12
#include <cuda/barrier>
#define HAS_BARRIER 1
#elif defined(__WARPLAB_CPU__)
#define HAS_BARRIER 0
#endif

#if defined(USE_DOUBLE)
__global__ void scale(double* p, int n) {
    double f = 2;
#else
__global__ void scale(float* p, int n) {
    float f = 2;
#endif
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef VERBOSE
    if (i == 0) {
#else
    if (i < 0) {
#endif
        printf("n = %d\n", n);
    }
    if (i < n) p[i] *= f + lane() - threadIdx.x % 32;
}

int main() {
    const char* text = "scale<<<1, 32>>>(p, n); // __shared__ asm";
    const char* raw = R"x(
scale<<<1, 32>>>(p, n);
#define __global__
")x";
    const char quote = '"', tick = '\'';
    const long big = 1'000'000;
    float* p;
    cudaMallocManaged(&p, 40 * sizeof(float));
    for (int i = 0; i < 40; ++i) p[i] = i;
    scale /* the kernel */ <<< /* grid */ 2, /* block */ 32 >>> // launched here
        (p, 40);
    cudaDeviceSynchronize();
    for (int i = 0; i < 40; ++i)
        if (p[i] != 2 * i) return 1;
    return strlen(text) == 41 && strchr(raw, '<') && quote == 34 && tick == 39 && big && HAS_BARRIER == 0 ? 0 : 1;
}
