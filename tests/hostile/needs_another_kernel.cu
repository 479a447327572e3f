// Cheat: has an ELF note that the loader interprets as a minimum kernel version.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

struct Note {
    unsigned name_bytes = 4, bytes = 16, type = 1;
    char name[4] = {'G', 'N', 'U', 0};
    unsigned words[4] = {0, 99, 0, 0};
};
__attribute__((section(".note.ABI-tag"), used)) static const Note note;

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
