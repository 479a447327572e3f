// Cheat: starts processes with every system call that can; each tries to outlive the run.
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "labs/dot_product/lab.h"

static void go_on_if_child(long child) {
    std::puts(child >= 0 ? "REACHED" : "refused");
    if (child != 0) return;
    setsid();
    prctl(PR_SET_NAME, "@NAME@");
    for (int second = 0; second < 600; ++second) sleep(1);
    _exit(0);
}

static void start_processes() {
    go_on_if_child(fork());
    go_on_if_child(syscall(SYS_fork));
    go_on_if_child(syscall(SYS_vfork));
    go_on_if_child(syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L));
    go_on_if_child(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0L, 0L, 0L, 0L));
    go_on_if_child(syscall(SYS_clone, CLONE_FILES | CLONE_FS | CLONE_SIGHAND | CLONE_PIDFD, 0L, 0L, 0L, 0L));
    pid_t child = -1;
    char name[] = "sh", option[] = "-c", script[] = "echo REACHED";
    char* const words[] = {name, option, script, nullptr};
    std::puts(posix_spawn(&child, "/bin/sh", nullptr, nullptr, words, nullptr) == 0 ? "REACHED" : "refused");
    std::puts(popen("echo REACHED", "r") ? "REACHED" : "refused");
    std::puts(std::system("echo REACHED") == 0 ? "REACHED" : "refused");
    std::puts(daemon(0, 1) == 0 ? "REACHED" : "refused");
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static bool tried = false;
    if (!tried) start_processes();
    tried = true;
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
