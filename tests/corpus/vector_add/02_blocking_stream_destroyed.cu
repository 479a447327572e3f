#include "labs/vector_add/lab.h"

__global__ void add(const float* a, const float* b, float* c, size_t n) {
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) c[i] = a[i] + b[i];
}

// A stream made with cudaStreamCreate takes turns with the default stream, so whoever uses c there waits for the kernel.
void vector_add(const float* a, const float* b, float* c, size_t n, void*) {
    cudaStream_t work;
    CUDA_CHECK(cudaStreamCreate(&work));
    add<<<128, 256, 0, work>>>(a, b, c, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaStreamDestroy(work));  // frees the stream once its kernel is complete
}
