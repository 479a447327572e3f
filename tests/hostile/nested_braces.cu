// Bomb: half a million nested braces, made by macros, crash the compiler.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

#define B0 {
#define E0 }
#define B1 B0 B0
#define B2 B1 B1
#define B3 B2 B2
#define B4 B3 B3
#define B5 B4 B4
#define B6 B5 B5
#define B7 B6 B6
#define B8 B7 B7
#define B9 B8 B8
#define B10 B9 B9
#define B11 B10 B10
#define B12 B11 B11
#define B13 B12 B12
#define B14 B13 B13
#define B15 B14 B14
#define B16 B15 B15
#define B17 B16 B16
#define B18 B17 B17
#define E1 E0 E0
#define E2 E1 E1
#define E3 E2 E2
#define E4 E3 E3
#define E5 E4 E4
#define E6 E5 E5
#define E7 E6 E6
#define E8 E7 E7
#define E9 E8 E8
#define E10 E9 E9
#define E11 E10 E10
#define E12 E11 E11
#define E13 E12 E12
#define E14 E13 E13
#define E15 E14 E14
#define E16 E15 E15
#define E17 E16 E16
#define E18 E17 E17
static void nested() { B18 E18 }

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
