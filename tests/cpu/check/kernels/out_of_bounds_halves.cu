// The last thread of an odd count stores a pair, of which one half is beyond the array.
#include <cuda_fp16.h>

__global__ void fill_kernel(half* out, int n) {
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) *reinterpret_cast<half2*>(out + i) = __float2half2_rn(1.0f);  //! out_of_bounds
}

int main() {
    half* out;
    cudaMalloc(&out, 33 * sizeof(half));
    fill_kernel<<<1, 32>>>(out, 33);
    return cudaDeviceSynchronize() != cudaSuccess;
}
