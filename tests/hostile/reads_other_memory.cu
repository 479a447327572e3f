// Cheat: tries, on its parent and its main thread, all kernel interfaces that read, watch or stop a process.
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <thread>

#include "labs/dot_product/lab.h"

/// Only the sandbox returns ENOSYS or EPERM; any other error means that the call reached the kernel.
static void try_call(long result) {
    std::puts(result < 0 && (errno == ENOSYS || errno == EPERM) ? "refused" : "REACHED");
}

static void watch(pid_t process) {
    char byte = 0;
    const iovec here{&byte, 1}, there{&byte, 1};
    try_call(ptrace(PTRACE_SEIZE, process, nullptr, nullptr));
    try_call(ptrace(PTRACE_ATTACH, process, nullptr, nullptr));
    try_call(syscall(SYS_process_vm_readv, process, &here, 1, &there, 1, 0));
    try_call(syscall(SYS_process_vm_writev, process, &here, 1, &there, 1, 0));
    try_call(syscall(SYS_kcmp, process, getpid(), 2, 0, 0));
    try_call(syscall(SYS_pidfd_open, process, 0));
    try_call(syscall(SYS_pidfd_getfd, 0, 0, 0));
    try_call(syscall(SYS_pidfd_send_signal, 0, 0, nullptr, 0));
    try_call(syscall(SYS_process_madvise, 0, &there, 1, 4, 0));
    try_call(syscall(SYS_move_pages, process, 0, nullptr, nullptr, nullptr, 0));
    try_call(syscall(SYS_migrate_pages, process, 0, nullptr, nullptr));
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    const pid_t main_thread = gettid();
    watch(getppid());
    std::thread([&] { watch(main_thread); }).join();
    try_call(ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
    try_call(syscall(SYS_userfaultfd, 0));
    try_call(syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0));
    try_call(syscall(SYS_memfd_secret, 0));
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
