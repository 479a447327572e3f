// A function that is not inlined returns a struct, which is stored one element before the beginning.
#include <cuda_runtime.h>

struct Range {
    int low, middle, high;
};

__device__ __noinline__ Range around(int i) { return {i - 1, i, i + 1}; }

__global__ void range_kernel(Range* out) {
    out[threadIdx.x - 1] = around(threadIdx.x);  //! out_of_bounds
}

int main() {
    Range* out;
    cudaMalloc(&out, 64 * sizeof(Range));
    range_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
