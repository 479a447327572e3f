// Cheat: checks which of the course's files exist, how large they are and when they changed.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "labs/dot_product/lab.h"

static bool exists(const char* path) {
    struct stat status {};
    struct statx more {};
    struct statfs system {};
    char target[64];
    return stat(path, &status) == 0 || lstat(path, &status) == 0 || access(path, F_OK) == 0 ||
           statx(AT_FDCWD, path, 0, STATX_ALL, &more) == 0 || readlink(path, target, sizeof target) > 0 ||
           statfs(path, &system) == 0 || open(path, O_PATH) >= 0;
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    for (const char* path : {"@ROOT@/solutions/dot_product/01_serial_block_sum.cu", "@ROOT@/datasets/.secret",
                             "@ROOT@/grader/judge/judge.cpp", "@OUTSIDE@/another_student.cu", "/etc/shadow"})
        std::puts(exists(path) ? "REACHED" : "refused");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
