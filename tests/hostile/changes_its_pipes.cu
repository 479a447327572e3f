// Cheat: makes the pipes to the judge tiny, huge, non-blocking and packet-based, and has them send signals to the
// judge.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static unsigned call = 0;
    for (const int descriptor : {1, 3, 5}) {
        fcntl(descriptor, F_SETPIPE_SZ, call % 2 ? 1 << 20 : 4096);
        fcntl(descriptor, F_SETOWN, call % 2 ? getppid() : -1);
        fcntl(descriptor, F_SETSIG, SIGKILL);
        fcntl(descriptor, F_SETLEASE, F_WRLCK);
        if (descriptor != 3) fcntl(descriptor, F_SETFL, O_ASYNC | (call % 2 ? O_NONBLOCK : O_DIRECT));
    }
    ++call;
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
