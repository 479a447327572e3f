// Cheat: looks through its open descriptors for files that the judge left open.
#include <dirent.h>

#include <cstdio>
#include <cstdlib>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    DIR* open_files = opendir("/proc/self/fd");
    while (const dirent* entry = open_files ? readdir(open_files) : nullptr) {
        const int number = std::atoi(entry->d_name);
        if (open_files && number > 5 && number != dirfd(open_files)) std::puts("REACHED");
    }
    if (open_files) closedir(open_files);
    std::puts("refused");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
