// Cheat: makes the kernel notify it when files of the course or of other students are read.
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "labs/dot_product/lab.h"

static bool watch(const char* path) {
    constexpr unsigned accessed = 1, many_times = 0x80000000, inside_mount = 3;
    const int events = inotify_init1(0), folder = open(path, O_RDONLY | O_DIRECTORY);
    return inotify_add_watch(events, path, IN_ALL_EVENTS) >= 0 || fcntl(folder, F_NOTIFY, accessed | many_times) == 0 ||
           fcntl(folder, F_SETLEASE, F_RDLCK) == 0 ||
           syscall(SYS_fanotify_mark, folder, inside_mount, 1L, -100, path) == 0;
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    for (const char* path :
         {"@ROOT@", "@ROOT@/solutions", "@ROOT@/datasets", "@BUILD@", "@OUTSIDE@", "/usr", "/usr/bin", "/proc"})
        std::puts(watch(path) ? "REACHED" : "refused");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
