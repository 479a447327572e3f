#include "labs/dot_product/lab.h"

// Needs compute capability 8.0: the warp's sum is one instruction.
__global__ void __launch_bounds__(256) dot_kernel(const int* __restrict__ a, const int* __restrict__ b, int* __restrict__ out, size_t n) {
    unsigned sum = 0;
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        sum += (unsigned)a[i] * (unsigned)b[i];

    // all 32 lanes are here again
    __syncwarp();
    sum = __reduce_add_sync(0xffffffffu, sum);
    if ((threadIdx.x & 31) == 0) atomicAdd(reinterpret_cast<unsigned*>(out), sum);
}

void dot_product(const int* a, const int* b, int* out, size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    dot_kernel<<<96, 256>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
