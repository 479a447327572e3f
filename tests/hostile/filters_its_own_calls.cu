// Cheat: answers the runner's system calls with its own filter or handler.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
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
    sock_filter allow_all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter{1, allow_all};
    static char selector = 0;
    constexpr int set_syscall_user_dispatch = 59, set_core_scheduling = 62, set_machine_check = 33;
    try_call(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter));
    try_call(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
    try_call(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
    try_call(prctl(set_syscall_user_dispatch, 1, 0L, 0L, &selector));
    try_call(prctl(PR_SET_TSC, PR_TSC_ENABLE));
    try_call(prctl(PR_SET_MM, PR_SET_MM_BRK, 0, 0, 0));
    try_call(prctl(PR_SET_PTRACER, -1));
    try_call(prctl(PR_SET_CHILD_SUBREAPER, 1));
    try_call(prctl(PR_SET_SPECULATION_CTRL, 0, 2, 0, 0));
    try_call(prctl(set_core_scheduling, 1, 0, 0, 0));
    try_call(prctl(set_machine_check, 0, 0, 0, 0));
    try_call(syscall(SYS_prctl, (1L << 32) | PR_SET_PDEATHSIG, 0L));  // the kernel drops the upper half
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
