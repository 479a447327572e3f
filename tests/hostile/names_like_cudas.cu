// Bomb: a hundred thousand variables whose names begin like those of CUDA's functions, compared with all of CUDA's.
#include "labs/dot_product/lab.h"

// N4(x) declares 10 to the power of 4 variables.
#define N1(x) int x##0, x##1, x##2, x##3, x##4, x##5, x##6, x##7, x##8, x##9;
#define N2(x) N1(x##0) N1(x##1) N1(x##2) N1(x##3) N1(x##4) N1(x##5) N1(x##6) N1(x##7) N1(x##8) N1(x##9)
#define N3(x) N2(x##0) N2(x##1) N2(x##2) N2(x##3) N2(x##4) N2(x##5) N2(x##6) N2(x##7) N2(x##8) N2(x##9)
#define N4(x) N3(x##0) N3(x##1) N3(x##2) N3(x##3) N3(x##4) N3(x##5) N3(x##6) N3(x##7) N3(x##8) N3(x##9)
N4(cuda_a)
N4(cuda_b)
N4(cuda_c)
N4(cuda_d)
N4(cuda_e)
N4(cuda_f)
N4(cuda_g)
N4(cuda_h)
N4(cuda_i)
N4(cuda_j)

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
