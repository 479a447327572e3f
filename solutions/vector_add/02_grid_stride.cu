// Grid-stride loop: a grid of fixed size processes all elements; each thread advances by the number of threads.
// The size of the grid fits the GPU, not the data; any n works, and neighbouring threads still access neighbours.

#include <algorithm>

#include "labs/vector_add/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 16
#endif

__global__ void vector_add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    //@ begin
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = a[i] + b[i];
    //@ starter
    //@ // TODO: start at this thread's own element and step by the number of threads in the whole grid, while i < n.
    //@ end
}

unsigned count_multiprocessors() {
    int device, multiprocessors;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(multiprocessors);
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void* /*scratch*/) {
    if (n == 0) return;
    //@ begin
    // No more blocks than there is work for: with a small vector, further threads would have nothing to do.
    const std::size_t needed = (n + BLOCK - 1) / BLOCK;
    const std::size_t blocks = std::min<std::size_t>(needed, count_multiprocessors() * BLOCKS_PER_SM);
    vector_add_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
    //@ starter
    //@ // TODO: launch BLOCKS_PER_SM blocks for each multiprocessor, but no more than n elements need.
    //@ end
}
