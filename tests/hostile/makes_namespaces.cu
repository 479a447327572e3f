// Cheat: creates its own namespaces, in particular a user namespace, in which it has every capability.
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "labs/dot_product/lab.h"

/// Only the sandbox returns ENOSYS or EPERM; any other error means that the call reached the kernel.
static void try_call(long result) {
    std::puts(result < 0 && (errno == ENOSYS || errno == EPERM) ? "refused" : "REACHED");
}

static void clone_into(std::uint64_t flag) {
    const long child = syscall(SYS_clone, flag | SIGCHLD, 0L, 0L, 0L, 0L);
    if (child == 0) _exit(0);
    try_call(child);
    clone_args arguments{};
    arguments.flags = flag;
    arguments.exit_signal = SIGCHLD;
    const long third = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (third == 0) _exit(0);
    try_call(third);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    for (const std::uint64_t flag :
         {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP}) {
        try_call(unshare(static_cast<int>(flag)));
        clone_into(flag);
    }
    for (const char* kind : {"/proc/self/ns/user", "/proc/1/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/net"})
        try_call(setns(open(kind, O_RDONLY), 0));
    try_call(syscall(SYS_pidfd_open, getpid(), 0));
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
