// Bomb: a hundred thousand variables whose names begin like those of CUDA's functions, each compared with all of these.
#include "labs/dot_product/lab.h"

#define TEN(x) int x##0, x##1, x##2, x##3, x##4, x##5, x##6, x##7, x##8, x##9;
#define HUNDRED(x) TEN(x##0) TEN(x##1) TEN(x##2) TEN(x##3) TEN(x##4) TEN(x##5) TEN(x##6) TEN(x##7) TEN(x##8) TEN(x##9)
#define THOUSAND(x)                                                                                                 \
    HUNDRED(x##0)                                                                                                   \
    HUNDRED(x##1) HUNDRED(x##2) HUNDRED(x##3) HUNDRED(x##4) HUNDRED(x##5) HUNDRED(x##6) HUNDRED(x##7) HUNDRED(x##8) \
        HUNDRED(x##9)
#define TEN_THOUSAND(x)                                                                                      \
    THOUSAND(x##0)                                                                                           \
    THOUSAND(x##1) THOUSAND(x##2) THOUSAND(x##3) THOUSAND(x##4) THOUSAND(x##5) THOUSAND(x##6) THOUSAND(x##7) \
        THOUSAND(x##8) THOUSAND(x##9)
TEN_THOUSAND(cuda_a)
TEN_THOUSAND(cuda_b)
TEN_THOUSAND(cuda_c)
TEN_THOUSAND(cuda_d)
TEN_THOUSAND(cuda_e)
TEN_THOUSAND(cuda_f)
TEN_THOUSAND(cuda_g)
TEN_THOUSAND(cuda_h)
TEN_THOUSAND(cuda_i)
TEN_THOUSAND(cuda_j)

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
