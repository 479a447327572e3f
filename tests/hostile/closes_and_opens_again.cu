// Cheat: closes the channel's descriptors, opens other files with their numbers, and restores the descriptors.
#include <fcntl.h>
#include <unistd.h>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    int kept[3];
    for (int i = 0; i < 3; ++i) {
        kept[i] = fcntl(3 + i, F_DUPFD, 50);
        close(3 + i);
        (void)!open("/dev/null", O_RDWR);
    }
    for (int i = 0; i < 3; ++i) {
        dup2(kept[i], 3 + i);
        close(kept[i]);
    }
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
