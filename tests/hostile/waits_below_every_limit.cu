// Bomb: waits in every step for slightly less than its limit; only the total is too long.
#include <unistd.h>

#include "labs/dot_product/lab.h"

static void wait_a_little() { usleep(8000000); }

__attribute__((constructor)) static void wait_before_main() { wait_a_little(); }

std::size_t dot_product_scratch_bytes(std::size_t) {
    wait_a_little();
    return 0;
}

void dot_product_prepare(std::size_t) { wait_a_little(); }

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    usleep(4000000);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
