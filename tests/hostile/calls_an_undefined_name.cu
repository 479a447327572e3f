// Bomb: a name without a definition occurs 340,000 times in the file, and the judge searches for its last call.
// The test replaces @N TEXT@ by N copies of TEXT.
#include "labs/dot_product/lab.h"

int f(int);

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    f(1);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}

#if 0
@340000 f( @
#endif
