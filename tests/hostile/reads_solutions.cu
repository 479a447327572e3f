// Cheat: opens the course's solution of this stage and the list of hostile hand-ins.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "labs/dot_product/lab.h"

static void reach(const char* path) {
    const int file = open(path, O_RDONLY);
    char byte;
    std::puts(file >= 0 && read(file, &byte, 1) == 1 ? "REACHED" : "refused");
    if (file >= 0) close(file);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    reach("@ROOT@/solutions/dot_product/01_serial_block_sum.cu");
    reach("@ROOT@/tests/hostile/hostile.json");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
