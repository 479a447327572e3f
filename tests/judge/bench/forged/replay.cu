// Cheat: remembers every output address, and works only in the first call for each address.
#include <set>

#include "labs/vector_add/lab.h"

__global__ void add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

void vector_add_host(const float* a, const float* b, float* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void*) {
    static std::set<const void*> seen;
    const bool timed = n > 2000000 && n < (1u << 30);  // only the timed calls
    if (n == 0 || (timed && !seen.insert(out).second)) return;
    add_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
