// Bomb: a kernel that never ends.
#include "labs/dot_product/lab.h"

__global__ void spin(volatile int* out) {
    while (true) *out = 0;
}

void dot_product(const int*, const int*, int* out, std::size_t, void*) { spin<<<1, 1>>>(out); }
