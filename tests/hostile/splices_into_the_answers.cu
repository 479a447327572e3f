// Cheat: splices pages, files and pipes into the answers; these may change after the judge has read them.
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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
    static char page[4096];
    const iovec part{page, sizeof page};
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0 || write(ends[1], page, sizeof page) < 0) return;
    try_call(vmsplice(5, &part, 1, SPLICE_F_GIFT | SPLICE_F_NONBLOCK));
    try_call(splice(ends[0], nullptr, 5, nullptr, 4096, SPLICE_F_NONBLOCK));
    try_call(tee(ends[0], 5, 4096, SPLICE_F_NONBLOCK));
    try_call(sendfile(5, 4, nullptr, 4096));
    try_call(copy_file_range(4, nullptr, 4, nullptr, 0, 0));
    try_call(fallocate(4, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
    close(ends[0]);
    close(ends[1]);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
