// Cheat: loads programs and modules into the kernel, reads its log and sets its clocks.
#include <sys/syscall.h>
#include <sys/timex.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "labs/dot_product/lab.h"

/// ENOSYS and EPERM count as refused; any other error means that the call reached the code of the Linux kernel.
static void try_call(long result) {
    std::puts(result < 0 && (errno == ENOSYS || errno == EPERM) ? "refused" : "REACHED");
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    char buffer[256] = {};
    timex time{};
    try_call(syscall(SYS_bpf, 0, buffer, sizeof buffer));
    try_call(syscall(SYS_init_module, buffer, sizeof buffer, ""));
    try_call(syscall(SYS_finit_module, 0, "", 0));
    try_call(syscall(SYS_delete_module, "warplab", 0));
    try_call(syscall(SYS_kexec_load, 0, 0, nullptr, 0));
    try_call(syscall(SYS_syslog, 3, buffer, sizeof buffer));
    try_call(syscall(SYS_acct, "/tmp/acct"));
    try_call(syscall(SYS_quotactl, 0, nullptr, 0, nullptr));
    try_call(syscall(SYS_adjtimex, &time));
    try_call(syscall(SYS_clock_adjtime, 0, &time));
    try_call(syscall(SYS_settimeofday, nullptr, nullptr));
    try_call(syscall(SYS_fanotify_init, 0, 0));
    try_call(syscall(SYS_landlock_create_ruleset, nullptr, 0, 1));
    try_call(syscall(SYS_name_to_handle_at, -100, "/", nullptr, nullptr, 0));
    try_call(syscall(SYS_open_by_handle_at, -100, buffer, 0));
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
