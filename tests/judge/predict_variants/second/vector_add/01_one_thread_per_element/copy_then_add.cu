// Two kernels: the first copies a to out, the second adds b to what is there.

#include "labs/vector_add/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

__global__ void copy_kernel(const float* a, float* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i];
}

__global__ void vector_add_kernel(const float* b, float* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] += b[i];
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void* /*scratch*/) {
    if (n == 0) return;                                  // a grid without blocks is an error
    const std::size_t blocks = (n + BLOCK - 1) / BLOCK;  // rounded up: n / BLOCK loses the last, partial block
    copy_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(a, out, n);
    CUDA_CHECK(cudaGetLastError());
    vector_add_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(b, out, n);
    CUDA_CHECK(cudaGetLastError());  // a launch returns no value: ask whether it was accepted
}

// The same for data on the host: allocate, copy in, compute, copy back, free.
void vector_add_host(const float* a, const float* b, float* out, std::size_t n) {
    if (n == 0) return;
    const std::size_t bytes = n * sizeof(float);
    float *device_a, *device_b, *device_out;
    CUDA_CHECK(cudaMalloc(&device_a, bytes));
    CUDA_CHECK(cudaMalloc(&device_b, bytes));
    CUDA_CHECK(cudaMalloc(&device_out, bytes));
    CUDA_CHECK(cudaMemcpy(device_a, a, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_b, b, bytes, cudaMemcpyHostToDevice));
    vector_add(device_a, device_b, device_out, n, nullptr);
    CUDA_CHECK(cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost));  // waits until the kernel is done
    CUDA_CHECK(cudaFree(device_a));
    CUDA_CHECK(cudaFree(device_b));
    CUDA_CHECK(cudaFree(device_out));
}
