// Cheat: makes a 32-bit system call, whose number a filter might not know.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "labs/dot_product/lab.h"

static void call_getpid() {
    constexpr unsigned char code[] = {0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3};  // mov eax, 20; int 0x80; ret
    void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(page, code, sizeof code);
    if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0) std::abort();
    if (reinterpret_cast<int (*)()>(page)() > 0) std::puts("REACHED");
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
#if !defined(__x86_64__)
    std::abort();  // no such numbers on this processor
#endif
    call_getpid();
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
