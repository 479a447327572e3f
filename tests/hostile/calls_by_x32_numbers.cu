// Cheat: makes a system call with its number in the x32 interface.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
#if !defined(__x86_64__)
    std::abort();  // no such numbers on this processor
#endif
    constexpr long x32 = 0x40000000;
    if (syscall(x32 + SYS_getpid) > 0) std::puts("REACHED");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
