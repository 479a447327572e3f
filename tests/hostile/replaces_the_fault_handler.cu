// Cheat: reads far beyond the end and continues, because its own handler maps memory there.
#include <signal.h>
#include <sys/mman.h>

#include <cstdint>

#include "labs/dot_product/lab.h"

static void put_memory_there(int, siginfo_t* info, void*) {
    const auto page = reinterpret_cast<std::uintptr_t>(info->si_addr) & ~std::uintptr_t{4095};
    mmap(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int far = static_cast<const volatile int*>(a)[i + (std::size_t{1} << 40)];
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * far);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    struct sigaction action {};
    action.sa_sigaction = put_memory_there;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
