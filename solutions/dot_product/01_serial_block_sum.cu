// Every thread stores one product in shared memory, thread 0 adds up the block's products, and one atomicAdd per block
// adds up the blocks' sums. The serial part is slow: while thread 0 adds, the block's other threads do nothing.

#include "labs/dot_product/lab.h"

#ifndef BLOCK
#define BLOCK 256
#endif

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    //@ begin
    __shared__ int products[BLOCK];
    const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
    // Threads past the end add nothing, but must not return: the barrier waits for the whole block.
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();  // until every product is there

    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned t = 0; t < BLOCK; ++t) sum += products[t];
        atomicAdd(out, sum);  // blocks run in any order and at the same time: out += sum would lose sums
    }
    //@ starter
    //@ // TODO: an array of BLOCK ints in __shared__ memory; each thread stores its product there, or 0 past the end.
    //@ // When all have been stored (__syncthreads), thread 0 adds them up, and adds its sum to out with atomicAdd.
    //@ end
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* /*scratch*/) {
    //@ begin
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));  // in every call: out holds garbage, or the previous call's answer
    if (n == 0) return;
    const std::size_t blocks = (n + BLOCK - 1) / BLOCK;
    dot_product_kernel<<<static_cast<unsigned>(blocks), BLOCK>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
    //@ starter
    //@ // TODO: out contains garbage. What must it contain before the first block adds? Then launch enough blocks.
    //@ end
}
