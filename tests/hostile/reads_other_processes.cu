// Cheat: reads all other processes' files in /proc: command lines, environments, working directories and open files.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "labs/dot_product/lab.h"

static bool holds(const std::string& path, const char* words) {
    char text[65536] = {};
    const int file = open(path.c_str(), O_RDONLY);
    const ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    for (ssize_t i = 0; i < got; ++i)
        if (text[i] == 0) text[i] = ' ';
    return got > 0 && std::strstr(text, words);
}

static void look_at(const std::string& process) {
    char target[4096];
    bool seen = false;
    for (const char* name : {"cmdline", "environ", "maps", "mountinfo", "cgroup", "status", "stat", "comm", "io"})
        seen = seen || holds("/proc/" + process + "/" + name, "warplab ") ||
               holds("/proc/" + process + "/" + name, "@BUILD@") || holds("/proc/" + process + "/" + name, "@OUTSIDE@");
    for (const char* name : {"cwd", "exe", "root", "fd/0", "fd/1", "ns/user"})
        seen = seen || readlink(("/proc/" + process + "/" + name).c_str(), target, sizeof target) > 0;
    if (seen) std::puts("REACHED");
}

static void look_at_all() {
    const int own = getpid();
    for (int process = std::max(2, own - 100); process < own; ++process) look_at(std::to_string(process));
    DIR* const processes = opendir("/proc");
    while (const dirent* entry = processes ? readdir(processes) : nullptr)
        if (std::atoi(entry->d_name) > 1 && std::atoi(entry->d_name) != own) look_at(entry->d_name);
    if (processes) closedir(processes);
    std::puts("refused");
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static bool looked = false;
    if (!looked) look_at_all();
    looked = true;
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
