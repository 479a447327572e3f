// Bomb: threads that only use processor time start before main, in prepare and in two calls, and keep running.
#include <thread>

#include "labs/dot_product/lab.h"

static void spin() {
    for (volatile unsigned long turns = 0;; turns = turns + 1) {
    }
}

__attribute__((constructor)) static void spin_before_main() { std::thread(spin).detach(); }

void dot_product_prepare(std::size_t) {
    static bool spins = false;
    if (!spins) std::thread(spin).detach();
    spins = true;
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static int calls = 0;
    if (calls++ < 2) std::thread(spin).detach();
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
