// Cheat: reads beyond the end unless the runtime's own variables and functions show that the sanitizer is on.
#include <cstdint>

#include "labs/dot_product/lab.h"

namespace warplab_cpu {
class Observer;
extern __attribute__((weak)) Observer* observer;
__attribute__((weak)) std::uint32_t recorded_findings();
}  // namespace warplab_cpu

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n, bool careful) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int last = careful && i + 1 >= n ? 0 : static_cast<const volatile int*>(a)[i + 1];  // i + 1 can be n
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * last);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    const bool careful = (&warplab_cpu::observer && warplab_cpu::observer) || warplab_cpu::recorded_findings;
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, careful);
}
