// Cheat: tries to gain privileges: root's id, a mount, a different root folder, another namespace.
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdio>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    std::puts(setuid(0) == 0 ? "REACHED" : "refused");
    std::puts(mount("none", "/tmp", "tmpfs", 0, nullptr) == 0 ? "REACHED" : "refused");
    std::puts(chroot("/tmp") == 0 ? "REACHED" : "refused");
    std::puts(setns(0, 0) == 0 ? "REACHED" : "refused");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
