// Bomb: keeps the descriptors of its inputs and outputs and cuts the files short, beneath the judge's feet.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "labs/dot_product/lab.h"

static int kept[64], kept_count;

extern "C" int close(int number) {
    if (number > 5 && kept_count < 64) kept[kept_count++] = fcntl(number, F_DUPFD, 100);
    return static_cast<int>(syscall(SYS_close, number));
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    constexpr int add_seals = 1033, seal_write = 8, seal_future_write = 16;
    for (int i = 0; i < kept_count; ++i) {
        std::puts(ftruncate(kept[i], 0) == 0 ? "REACHED" : "refused");
        std::puts(ftruncate(kept[i], 1L << 24) == 0 ? "REACHED" : "refused");
        std::puts(fcntl(kept[i], add_seals, seal_write) == 0 ? "REACHED" : "refused");
        std::puts(fcntl(kept[i], add_seals, seal_future_write) == 0 ? "REACHED" : "refused");
        std::puts(fallocate(kept[i], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0 ? "REACHED" : "refused");
    }
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
