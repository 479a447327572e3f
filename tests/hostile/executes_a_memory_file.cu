// Cheat: becomes a program that is not on any disk: a copy of the shell in memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "labs/dot_product/lab.h"

static int copy_in_memory(const char* program) {
    const int from = open(program, O_RDONLY);
    const int to = static_cast<int>(syscall(SYS_memfd_create, "shell", 0));
    char bytes[65536];
    for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;) (void)!write(to, bytes, static_cast<size_t>(got));
    close(from);
    return to;
}

void dot_product(const int*, const int*, int*, std::size_t, void*) {
    const int shell = copy_in_memory("/bin/sh");
    const char* const words[] = {"sh", "-c", "(sleep 600; echo REACHED) & echo REACHED; exit 0", nullptr};
    syscall(SYS_execveat, shell, "", words, nullptr, 0x1000);
    execv(("/proc/self/fd/" + std::to_string(shell)).c_str(), const_cast<char* const*>(words));
    _exit(0);
}
