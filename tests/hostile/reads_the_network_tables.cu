// Cheat: reads the machine's connections and its services' sockets.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "labs/dot_product/lab.h"

static bool holds(const char* path, const char* words) {
    char text[65536] = {};
    const int file = open(path, O_RDONLY);
    const bool seen = file >= 0 && read(file, text, sizeof text - 1) > 0 && std::strstr(text, words);
    if (file >= 0) close(file);
    return seen;
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    std::puts(holds("/proc/net/tcp", "0100007F") ? "REACHED" : "refused");
    std::puts(holds("/proc/thread-self/net/unix", "/") ? "REACHED" : "refused");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
