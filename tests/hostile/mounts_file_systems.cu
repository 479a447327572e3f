// Cheat: mounts file systems with the old and the new system calls, and tries to get the required capabilities.
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "labs/dot_product/lab.h"

/// Only the sandbox returns ENOSYS or EPERM; any other error means that the call reached the kernel.
static void try_call(long result) {
    std::puts(result < 0 && (errno == ENOSYS || errno == EPERM) ? "refused" : "REACHED");
}

static long take_all_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct all[2] = {{~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}};
    return syscall(SYS_capset, &header, all);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    try_call(take_all_capabilities());
    try_call(syscall(SYS_setresuid, 0, 0, 0));
    try_call(syscall(SYS_setgroups, 1, "\0\0\0\0"));
    try_call(mount("none", "/tmp", "tmpfs", 0, "size=40g"));
    try_call(mount("/", "/tmp", nullptr, MS_BIND | MS_REC, nullptr));
    try_call(umount2("/proc", MNT_DETACH));
    try_call(syscall(SYS_pivot_root, "/tmp", "/tmp"));
    try_call(syscall(SYS_fsopen, "tmpfs", 0));
    try_call(syscall(SYS_fspick, -100, "/", 0));
    try_call(syscall(SYS_open_tree, -100, "/", 1));
    try_call(syscall(SYS_move_mount, -100, "/proc", -100, "/tmp", 0));
    try_call(syscall(SYS_mount_setattr, -100, "/", 0, nullptr, 0));
    try_call(syscall(SYS_swapon, "/tmp/swap", 0));
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
