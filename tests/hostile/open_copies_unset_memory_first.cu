// Open: reads memory that was never written, after a copy from device to device.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n, const volatile int* rubbish) {
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * rubbish[threadIdx.x]);
}

std::size_t dot_product_scratch_bytes(std::size_t) { return 512 * sizeof(int); }

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    int* const never = static_cast<int*>(scratch);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    CUDA_CHECK(cudaMemcpy(never + 256, never, 256 * sizeof(int), cudaMemcpyDeviceToDevice));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, never + 256);
}
