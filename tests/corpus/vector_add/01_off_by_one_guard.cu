#include "labs/vector_add/lab.h"

#define THREADS 256

__global__ void vecadd(const float* a, const float* b, float* c, size_t len)
{
    const size_t i = (size_t)THREADS * blockIdx.x + threadIdx.x;
    if(i <= len)
        c[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* c, size_t len, void*)
{
    vecadd<<<len / THREADS + 1, THREADS>>>(a, b, c, len);
    CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float* a, const float* b, float* c, size_t len)
{
    float *da, *db, *dc;
    const size_t bytes = len * sizeof(float);
    CUDA_CHECK(cudaMalloc(&da, bytes));
    CUDA_CHECK(cudaMalloc(&db, bytes));
    CUDA_CHECK(cudaMalloc(&dc, bytes));
    CUDA_CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
    vector_add(da, db, dc, len, NULL);
    CUDA_CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(da)); CUDA_CHECK(cudaFree(db)); CUDA_CHECK(cudaFree(dc));
}
