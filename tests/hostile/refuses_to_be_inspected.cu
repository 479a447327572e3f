// Cheat: does not compile if a macro shows that the sanitizer is compiled in, so that it cannot be inspected.
#include "labs/dot_product/lab.h"

#if defined WARPLAB_CPU_CHECK || defined __SANITIZE_THREAD__ || defined __SANITIZE_UNDEFINED__
#error no inspection
#endif

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int last = static_cast<const volatile int*>(a)[i + 1];  // i + 1 can be n
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * last);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
