// Cheat: allows core dumps again and crashes, so that the kernel starts the machine's crash handler, which runs outside
// the sandbox. A limit of 0 does not stop that program; only 1 does.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

static bool can_start_it() {
    rlimit limit{};
    getrlimit(RLIMIT_CORE, &limit);
    const rlimit none{0, 0};
    const bool lowered = setrlimit(RLIMIT_CORE, &none) == 0 || syscall(SYS_setrlimit, RLIMIT_CORE, &none) == 0 ||
                         syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, nullptr) == 0 ||
                         syscall(SYS_prlimit64, 0, 1L << 32 | RLIMIT_CORE, &none, nullptr) == 0;
    return limit.rlim_cur != 1 || lowered;
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    std::printf("%s\n", can_start_it() ? "REACHED" : "refused");
    std::fflush(stdout);
    if (n == 1) std::abort();
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
