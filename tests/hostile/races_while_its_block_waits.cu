// Cheat: thread 32 reads what thread 0 wrote to shared memory, after no synchronisation except waiting for another
// block, which meanwhile uses its own variable at the same address.
#include "labs/dot_product/lab.h"
__global__ void k(const int* a, const int* b, int* out, std::size_t n, unsigned* w) {
    __shared__ int sum, copy;
    __shared__ unsigned turn;
    const unsigned t = threadIdx.x;
    if (t == 0) { copy = 0; turn = atomicAdd(&w[0], 1); }
    __syncthreads();
    int mine = 0;
    for (std::size_t i = blockIdx.x * 64 + t; i < n; i += 64 * gridDim.x) mine += a[i] * b[i];
    atomicAdd(&copy, mine);
    __syncthreads();
    if (turn == 0) {
        if (t == 0) sum = copy;
#ifndef CONTROL
        while (atomicAdd(&w[1], 0) == 0);
#endif
        if (t == 32) atomicAdd(out, sum);
    } else {
        if (t == 0) { sum = copy; atomicAdd(out, sum); atomicExch(&w[1], 1); }
    }
}
std::size_t dot_product_scratch_bytes(std::size_t) { return 8; }
void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    CUDA_CHECK(cudaMemset(out, 0, 4)); CUDA_CHECK(cudaMemset(scratch, 0, 8));
    unsigned* w = static_cast<unsigned*>(scratch); void* args[] = {&a, &b, &out, &n, &w};
    CUDA_CHECK(cudaLaunchCooperativeKernel((void*)k, dim3(2), dim3(64), args, 0, 0));
}
