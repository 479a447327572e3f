// Cheat: searches for keys of the user who started the judge, such as Kerberos tickets.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "labs/dot_product/lab.h"

static bool can_search(long keyring) {
    constexpr long search = 10;
    return syscall(SYS_keyctl, search, keyring, "user", "warplab-canary", 0L) > 0;
}

static bool can_see(const char* path) {
    char line[512];
    bool seen = false;
    std::FILE* const file = std::fopen(path, "r");
    while (file && std::fgets(line, sizeof line, file)) seen = seen || std::strstr(line, "warplab-canary");
    if (file) std::fclose(file);
    return seen;
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    for (const long keyring : {-1L, -2L, -3L, -4L, -5L}) std::puts(can_search(keyring) ? "REACHED" : "refused");
    std::puts(can_see("/proc/keys") ? "REACHED" : "refused");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
