// Bomb: does its work and then never ends, because its handlers, destructors and threads wait forever.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "labs/dot_product/lab.h"

static void wait_forever() {
    for (;;) pause();
}

struct Endless {
    ~Endless() { wait_forever(); }
};
static Endless endless;

__attribute__((destructor)) static void wait_in_destructor() { wait_forever(); }

__attribute__((constructor)) static void prepare_not_to_end() {
    std::atexit(wait_forever);
    at_quick_exit(wait_forever);
    for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
    for (int i = 0; i < 20; ++i) std::thread(wait_forever).detach();
}

extern "C" void _exit(int) {
    for (;;) pause();
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
