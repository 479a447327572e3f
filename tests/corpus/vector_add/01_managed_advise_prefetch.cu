#include <cstring>

#include "labs/vector_add/lab.h"

__global__ void vectorAdd(const float *a, const float *b, float *c, size_t n)
{
    for (size_t i = blockDim.x * (size_t)blockIdx.x + threadIdx.x; i < n; i += (size_t)blockDim.x * gridDim.x)
        c[i] = a[i] + b[i];
}

void vector_add(const float *a, const float *b, float *out, std::size_t n, void *)
{
    if (n == 0) return;
    size_t thr_per_blk = 256;
    size_t blk_in_grid = (n + thr_per_blk - 1) / thr_per_blk;
    vectorAdd<<<blk_in_grid, thr_per_blk>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float *a, const float *b, float *out, std::size_t n)
{
    if (n == 0) return;
    size_t bytes = n * sizeof(float);
    float *A, *B, *C;
    CUDA_CHECK(cudaMallocManaged(&A, bytes));
    CUDA_CHECK(cudaMallocManaged(&B, bytes));
    CUDA_CHECK(cudaMallocManaged(&C, bytes));
    memcpy(A, a, bytes);
    memcpy(B, b, bytes);
    int device = -1, concurrent = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device));
    if (concurrent) {
#if CUDART_VERSION >= 13000
        cudaMemLocation where = {cudaMemLocationTypeDevice, device};
        CUDA_CHECK(cudaMemAdvise(A, bytes, cudaMemAdviseSetReadMostly, where));
        CUDA_CHECK(cudaMemPrefetchAsync(A, bytes, where, 0, 0));
        CUDA_CHECK(cudaMemPrefetchAsync(B, bytes, where, 0, 0));
#else
        CUDA_CHECK(cudaMemAdvise(A, bytes, cudaMemAdviseSetReadMostly, device));
        CUDA_CHECK(cudaMemPrefetchAsync(A, bytes, device, 0));
        CUDA_CHECK(cudaMemPrefetchAsync(B, bytes, device, 0));
#endif
    }
    vector_add(A, B, C, n, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
    memcpy(out, C, bytes);
    CUDA_CHECK(cudaFree(A));
    CUDA_CHECK(cudaFree(B));
    CUDA_CHECK(cudaFree(C));
}
