// Cheat: sets processors, a priority and a personality that the judge did not give it.
#include <sched.h>
#include <sys/personality.h>
#include <sys/resource.h>
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
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int core = 0; core < CPU_SETSIZE; ++core) CPU_SET(core, &all);
    const sched_param first{1};
    try_call(sched_setaffinity(0, sizeof all, &all));
    try_call(sched_setaffinity(getppid(), sizeof all, &all));
    try_call(sched_setscheduler(0, SCHED_FIFO, &first));
    try_call(sched_setscheduler(0, SCHED_IDLE, &first));
    try_call(syscall(SYS_sched_setattr, 0, &first, 0));
    try_call(setpriority(PRIO_PROCESS, 0, 19));
    try_call(syscall(SYS_ioprio_set, 1, 0, 0));
    try_call(personality(ADDR_NO_RANDOMIZE));
#if defined(__x86_64__)
    try_call(syscall(SYS_iopl, 3));
    try_call(syscall(SYS_ioperm, 0, 1, 1));
    try_call(syscall(SYS_modify_ldt, 0, nullptr, 0));
#endif
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
