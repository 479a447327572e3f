// A function for host and device, which distinguishes them by __CUDA_ARCH__, and old workarounds at file scope.
#include <cstdio>

#if __CUDA_ARCH__ < 600
__device__ double atomicAdd(double* address, double value) { return *address; }
#endif

__host__ __device__ inline int side() {
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__;
#else
    return -1;
#endif
}

__host__ __device__ int nested(int x) {
    int result = 0;
#if defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 700
    result = x + 1;
#else
    result = x + 2;
#endif
#else
    for (int i = 0; i < 3; ++i) result += x;
#endif
    return result;
}

__global__ void k(int* out, double* sum) {
    out[0] = side();
    out[1] = nested(10);
#if __CUDA_ARCH__ == 900
    out[2] = 1;
#endif
    atomicAdd(sum, 1.5);
}

int main() {
    int* out;
    double* sum;
    cudaMallocManaged(&out, 3 * sizeof(int));
    cudaMallocManaged(&sum, sizeof(double));
    *sum = out[2] = 0;
    k<<<1, 2>>>(out, sum);
    cudaDeviceSynchronize();
    return out[0] != 900 || out[1] != 11 || out[2] != 1 || *sum != 3 || side() != -1 || nested(10) != 30;
}
