// One thread per element: thread i of the grid computes out[i].
// The grid consists of whole blocks, so its last block can have threads past the end. The guard excludes them.

#include "labs/vector_add/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

__global__ void vector_add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    // TODO: compute the index of this thread's element from blockIdx, blockDim and threadIdx.
    // Add the element, unless it is past the end.
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void* /*scratch*/) {
    // TODO: launch vector_add_kernel with BLOCK threads per block and as many blocks as n elements need. The last
    // block may not be full. What about n = 0? Then check cudaGetLastError() with CUDA_CHECK.
}

// The same for data on the host: allocate, copy in, compute, copy back, free.
void vector_add_host(const float* a, const float* b, float* out, std::size_t n) {
    // TODO: here the pointers are host pointers. Get device memory (cudaMalloc), copy a and b to it (cudaMemcpy),
    // call vector_add on the device's pointers, copy the result back, and free all that you allocated (cudaFree).
}
