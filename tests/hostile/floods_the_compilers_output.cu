// Bomb: a million warnings, made by macros.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

#define W0 _Pragma("message \"again and again and again\"")
#define W1 W0 W0
#define W2 W1 W1
#define W3 W2 W2
#define W4 W3 W3
#define W5 W4 W4
#define W6 W5 W5
#define W7 W6 W6
#define W8 W7 W7
#define W9 W8 W8
#define W10 W9 W9
#define W11 W10 W10
#define W12 W11 W11
#define W13 W12 W12
#define W14 W13 W13
#define W15 W14 W14
#define W16 W15 W15
#define W17 W16 W16
#define W18 W17 W17
#define W19 W18 W18
#define W20 W19 W19
W20

    void
    dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
