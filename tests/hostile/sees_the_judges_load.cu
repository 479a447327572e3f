// Cheat: infers the number of judges and neighbours from the number of processes that it sees.
#include <dirent.h>
#include <sys/sysinfo.h>

#include <cctype>
#include <cstdio>

#include "labs/dot_product/lab.h"

static int count_processes() {
    int count = 0;
    DIR* const processes = opendir("/proc");
    while (const dirent* entry = processes ? readdir(processes) : nullptr) count += std::isdigit(entry->d_name[0]) != 0;
    if (processes) closedir(processes);
    return count;
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    std::puts(count_processes() > 3 ? "REACHED" : "refused");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
