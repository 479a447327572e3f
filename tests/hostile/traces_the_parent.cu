// Cheat: attaches a debugger to its parent process, to change its memory.
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>

#include "labs/dot_product/lab.h"

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    for (const int process : {getppid(), 1, 2})
        std::puts(ptrace(PTRACE_ATTACH, process, nullptr, nullptr) == 0 && process != 2 ? "TRACED" : "refused");
}
