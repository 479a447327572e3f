// Cheat: clears its parent-death signal, and creates its own session and process group, in two threads.
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <thread>

#include "labs/dot_product/lab.h"

/// Only the sandbox returns ENOSYS or EPERM; any other error means that the call reached the kernel.
static void try_call(long result) {
    std::puts(result < 0 && (errno == ENOSYS || errno == EPERM) ? "refused" : "REACHED");
}

static void clear() {
    for (const int signal : {0, SIGCONT, SIGCHLD}) try_call(prctl(PR_SET_PDEATHSIG, signal));
    try_call(setsid());
    try_call(setpgid(0, 0));
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    clear();
    std::thread(clear).join();
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
