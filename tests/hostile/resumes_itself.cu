// Cheat: sends itself SIGCONT, so that it continues while the judge has suspended it to time the reference.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "labs/dot_product/lab.h"

/// Only the sandbox's filter returns ENOSYS or EPERM here; any other result means that the filter let the call pass.
static void try_call(long result) {
    std::puts(result < 0 && (errno == ENOSYS || errno == EPERM) ? "refused" : "REACHED");
}

static void resume() {
    constexpr long above = 1l << 32;  // the kernel ignores this bit of a signal's number
    for (const long signal : {SIGCONT + 0l, SIGCONT | above}) {
        try_call(syscall(SYS_kill, getpid(), signal));
        try_call(syscall(SYS_tkill, gettid(), signal));
        try_call(syscall(SYS_tgkill, getpid(), gettid(), signal));
    }
    siginfo_t info{};
    try_call(syscall(SYS_rt_sigqueueinfo, getpid(), SIGCONT, &info));
    try_call(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGCONT, &info));
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGCONT;
    timer_t timer;
    try_call(timer_create(CLOCK_MONOTONIC, &event, &timer));
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    resume();
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
