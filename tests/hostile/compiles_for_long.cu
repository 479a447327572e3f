// Bomb: takes the compiler a little less than its limit, and then waits in every untimed step.
#include <unistd.h>

#include "labs/dot_product/lab.h"

template <int depth, unsigned path>
struct Tree {
    static constexpr unsigned value = Tree<depth - 1, 2 * path>::value + Tree<depth - 1, 2 * path + 1>::value;
};
template <unsigned path>
struct Tree<0, path> {
    static constexpr unsigned value = path;
};
constexpr unsigned leaves = Tree<17, 1>::value;

void dot_product_prepare(std::size_t) { usleep(9000000 + leaves % 2); }

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
