// Bomb: writes one endless file.
#include <fcntl.h>
#include <unistd.h>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static char block[1 << 20];
    const int file = open("/tmp/endless", O_CREAT | O_WRONLY, 0600);
    while (file >= 0 && write(file, block, sizeof block) > 0) {
    }
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
