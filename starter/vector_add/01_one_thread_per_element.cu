// One thread per element: thread i of the grid computes out[i].
// The grid comes in whole blocks, so its last block has threads past the end. They must do nothing, hence the guard.

#include "labs/vector_add/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

__global__ void vector_add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    // TODO: which element is this thread's? Compute it from blockIdx, blockDim and threadIdx.
    // Add it, unless it lies past the end.
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void* /*scratch*/) {
    // TODO: launch vector_add_kernel with BLOCK threads a block and as many blocks as n elements need, the last one
    // perhaps not full. What about n = 0? Then check cudaGetLastError() with CUDA_CHECK.
}

// The same for data on the host: allocate, copy in, compute, copy back, free.
void vector_add_host(const float* a, const float* b, float* out, std::size_t n) {
    // TODO: here the pointers are the host's. Get device memory (cudaMalloc), copy a and b there (cudaMemcpy), call
    // vector_add on the device's pointers, copy the result back, and free (cudaFree) what you allocated.
}
