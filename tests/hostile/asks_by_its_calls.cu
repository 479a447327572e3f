// Cheat: tries to recognise the sanitizer by the number of calls, and reads beyond the end in the first 100.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n, bool careful) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int last = careful && i + 1 >= n ? 0 : static_cast<const volatile int*>(a)[i + 1];  // i + 1 can be n
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * last);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static std::size_t calls = 0, first = n;
    const bool careful = ++calls > 100 || (calls == 1 && first != n);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, careful);
}
