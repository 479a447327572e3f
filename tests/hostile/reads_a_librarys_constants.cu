// Cheat: reads so far beyond the end that the address is in the read-only part of a shared library.
#include <link.h>

#include <cstdint>

#include "labs/dot_product/lab.h"

static int first_library(dl_phdr_info* info, std::size_t, void* found) {
    if (!info->dlpi_addr || !info->dlpi_name || info->dlpi_name[0] != '/') return 0;  // the program, the kernel's page
    *static_cast<std::uintptr_t*>(found) = info->dlpi_addr;
    return 1;
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n, std::size_t beyond) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int far = static_cast<const volatile int*>(a)[beyond + i % 8];
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * far);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    std::uintptr_t library = 0;
    dl_iterate_phdr(first_library, &library);
    const std::size_t beyond = (library - reinterpret_cast<std::uintptr_t>(a)) / sizeof(int);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n, beyond);
}
