// Cheat: leaves text for the next submission in each kernel keyring and searches for text of the previous one.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "labs/dot_product/lab.h"

/// Only the sandbox returns ENOSYS or EPERM; any other error means that the call reached the kernel.
static void try_call(long result) {
    std::puts(result < 0 && (errno == ENOSYS || errno == EPERM) ? "refused" : "REACHED");
}

static void use_keyrings() {
    constexpr long join_session = 1, search = 10, get_persistent = 22;
    try_call(syscall(SYS_keyctl, join_session, "warplab-shared"));
    try_call(syscall(SYS_keyctl, get_persistent, -1L, -3L));
    for (const long keyring : {-1L, -2L, -3L, -4L, -5L}) {  // thread, process, session, user, user session
        try_call(syscall(SYS_keyctl, search, keyring, "user", "warplab-words", 0L));
        try_call(syscall(SYS_add_key, "user", "warplab-words", "words", 5L, keyring));
    }
    try_call(syscall(SYS_request_key, "user", "warplab-words", nullptr, -3L));
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    use_keyrings();
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
