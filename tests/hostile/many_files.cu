// Bomb: creates 20,000 folders.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    if (n == 255)
        for (int k = 0; k < 20000; ++k)
            if (mkdir(("/tmp/folder" + std::to_string(k)).c_str(), 0700) != 0) break;
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
