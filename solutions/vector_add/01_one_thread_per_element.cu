// One thread per element: thread i of the grid computes out[i].
// The grid consists of whole blocks, so its last block can have threads past the end. The guard excludes them.

#include "labs/vector_add/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

__global__ void vector_add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    //@ begin
    // size_t first: the product of two 32-bit numbers is 32 bits wide and wraps around beyond 4 G elements.
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
    //@ starter
    //@ // TODO: compute the index of this thread's element from blockIdx, blockDim and threadIdx.
    //@ // Add the element, unless it is past the end.
    //@ end
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void* /*scratch*/) {
    //@ begin
    if (n == 0) return;                                  // a grid without blocks is an error
    const std::size_t blocks = (n + BLOCK - 1) / BLOCK;  // rounded up: n / BLOCK loses the last, partial block
    vector_add_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());  // a launch returns no value: ask whether it was accepted
    //@ starter
    //@ // TODO: launch vector_add_kernel with BLOCK threads per block and as many blocks as n elements need. The last
    //@ // block may not be full. What about n = 0? Then check cudaGetLastError() with CUDA_CHECK.
    //@ end
}

// The same for data on the host: allocate, copy in, compute, copy back, free.
void vector_add_host(const float* a, const float* b, float* out, std::size_t n) {
    //@ begin
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
    //@ starter
    //@ // TODO: here the pointers are host pointers. Get device memory (cudaMalloc), copy a and b to it (cudaMemcpy),
    //@ // call vector_add on the device's pointers, copy the result back, and free all that you allocated (cudaFree).
    //@ end
}
