// Cheat: reads the kernel's lists of the machine's keys, mounts and memory, and the first process's arguments.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "labs/dot_product/lab.h"

static void read_list(const char* path, const char* words) {
    static char text[1 << 20];
    const int file = open(path, O_RDONLY);
    std::size_t bytes = 0;
    for (ssize_t got; file >= 0 && (got = read(file, text + bytes, sizeof text - 1 - bytes)) > 0;)
        bytes += static_cast<std::size_t>(got);
    if (file >= 0) close(file);
    text[bytes] = 0;
    const bool seen = bytes > 0 && std::strstr(text, words);
    if (seen) std::puts(path);
    std::puts(seen ? "REACHED" : "refused");
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static bool read_all = false;
    if (!read_all) {
        read_list("/proc/1/cmdline", "@ROOT@");
        read_list("/proc/1/environ", "@ROOT@");
        read_list("/proc/1/cmdline", "warplab");
        read_list("/proc/self/environ", "WARPLAB_TEST_CANARY");
        read_list("/proc/self/mountinfo", "@OUTSIDE@");
        read_list("/proc/self/mountinfo", "solutions");
        read_list("/proc/self/mountinfo", "datasets");
        read_list("/proc/keys", "warplab-canary");
        read_list("/proc/kcore", "ELF");
        read_list("/proc/kallsyms", "sys_call_table");
        read_list("/proc/timer_list", "warplab");
        read_list("/proc/locks", "FLOCK");
        read_list("/proc/sched_debug", "warplab");
    }
    read_all = true;
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
