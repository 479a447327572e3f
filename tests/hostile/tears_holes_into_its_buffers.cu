// Cheat: makes the kernel discard the pages of its inputs and of the status page.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

#include "labs/dot_product/lab.h"

static void tear(const void* place, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(place) & ~std::uintptr_t{4095};
    madvise(reinterpret_cast<void*>(begin), bytes, MADV_REMOVE);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    struct stat status {};
    fstat(4, &status);
    const auto bytes = static_cast<std::size_t>(status.st_size);
    tear(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0), bytes);
    tear(a, 4096);
    tear(b, 4096);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
