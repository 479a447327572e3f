#include "labs/dot_product/lab.h"

struct State {
    int total;
    unsigned done;
};

__global__ void dot(const int* a, const int* b, int* out, size_t n, State* state)
{
    int sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) {
        atomicAdd(&state->total, sum);
        __threadfence();
        if (atomicAdd(&state->done, 1u) == gridDim.x - 1)
            *out = atomicExch(&state->total, 0);
    }
}

std::size_t dot_product_scratch_bytes(std::size_t) { return sizeof(State); }

void dot_product(const int* a, const int* b, int* out, size_t n, void* scratch)
{
    dot<<<256, 32>>>(a, b, out, n, (State*)scratch);
    CUDA_CHECK(cudaGetLastError());
}
