// Cheat: makes its system calls through io_uring, where no filter sees them.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "labs/dot_product/lab.h"

/// Only the sandbox returns ENOSYS or EPERM; any other error means that the call reached the kernel.
static void try_call(long result) {
    std::puts(result < 0 && (errno == ENOSYS || errno == EPERM) ? "refused" : "REACHED");
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    unsigned parameters[30] = {};  // as large as io_uring_params
    int descriptors[] = {0, 3, 5};
    constexpr int register_files = 2;
    try_call(syscall(SYS_io_uring_setup, 8, parameters));
    for (const int descriptor : descriptors) {
        try_call(syscall(SYS_io_uring_register, descriptor, register_files, descriptors, 3));
        try_call(syscall(SYS_io_uring_enter, descriptor, 1, 0, 0, nullptr, 0));
    }
    long context = 0;
    try_call(syscall(SYS_io_setup, 8, &context));
    try_call(syscall(SYS_io_submit, context, 0, nullptr));
    try_call(syscall(SYS_io_getevents, context, 0, 0, nullptr, nullptr));
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
