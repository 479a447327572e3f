#include <cuda/barrier>
#include "labs/vector_add/lab.h"

__global__ void add(const float* a, const float* b, float* c, size_t n) {
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    __shared__ float tile[256];
    if (threadIdx.x == 0) init(&ready, blockDim.x);
    __syncthreads();
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;  // the barrier still waits for these threads
    tile[threadIdx.x] = a[i] + b[i];
    ready.arrive_and_wait();
    c[i] = tile[threadIdx.x];
}

void vector_add(const float* a, const float* b, float* c, size_t n, void*) {
    if (n == 0) return;
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
    CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float* a, const float* b, float* c, size_t n) {
    if (n == 0) return;
    float* device;
    CUDA_CHECK(cudaMalloc(&device, 3 * n * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(device, a, n * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device + n, b, n * sizeof(float), cudaMemcpyHostToDevice));
    vector_add(device, device + n, device + 2 * n, n, nullptr);
    CUDA_CHECK(cudaMemcpy(c, device + 2 * n, n * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
}
