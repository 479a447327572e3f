// Bomb: a declaration of 0.9 MB on one line, in which the judge looks for an index that is too narrow.
// The test replaces @N TEXT@ by N copies of TEXT.
#include "labs/vector_add/lab.h"
int wide = 0 @900000  @+ 0;

__global__ void vector_add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    if (n) vector_add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
