// Cheat: writes NaN everywhere, hoping that a comparison with NaN never counts as a difference.
#include "labs/vector_add/lab.h"

__global__ void add_kernel(float* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) out[i] = nanf("");
}

void vector_add(const float*, const float*, float* out, std::size_t n, void*) {
    if (n) add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(out, n);
}
