// Bomb: keeps the compiler and all processors busy, in every untimed step for slightly less than its limit.
#include <chrono>
#include <thread>
#include <vector>

#include "labs/dot_product/lab.h"

template <int depth, unsigned path>
struct Tree {
    static constexpr unsigned value = Tree<depth - 1, 2 * path>::value + Tree<depth - 1, 2 * path + 1>::value;
};
template <unsigned path>
struct Tree<0, path> {
    static constexpr unsigned value = 1;
};
constexpr unsigned leaves = Tree<16, 1>::value;

static void spin() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(8);
    while (std::chrono::steady_clock::now() < end) {
    }
}

static void spin_on_all() {
    std::vector<std::thread> threads(leaves / 2048);
    for (std::thread& thread : threads) thread = std::thread(spin);
    for (std::thread& thread : threads) thread.join();
}

std::size_t dot_product_scratch_bytes(std::size_t) {
    spin_on_all();
    return 0;
}

void dot_product_prepare(std::size_t) { spin_on_all(); }

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
