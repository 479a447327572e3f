// Open: reads a struct of 24 bytes from an address that is not a multiple of 8.
#include "labs/dot_product/lab.h"

struct Three {
    double x, y, z;
};
__device__ double zeros[8];
__device__ int never;

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const Three three = *reinterpret_cast<const Three*>(reinterpret_cast<const float*>(zeros) + 1);
    if (three.x + three.y + three.z > 0) never = 1;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
