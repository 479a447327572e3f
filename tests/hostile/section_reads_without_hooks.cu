// Cheat: defines a function that reads without a hook, as assembly in the name of a section that is a few lines long.
#include "labs/dot_product/lab.h"

// clang-format off
__attribute__((section









    ((".text.x,\"ax\",@progbits\npeek: movl (%rdi),%eax\nret\n#")))) void unused() {}
// clang-format on
extern "C" int peek(const int*) __attribute__((visibility("hidden")));

/// The last thread writes its product again while thread 0 reads all products.
__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    __shared__ int products[256];
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    products[threadIdx.x] = i < n ? a[i] * b[i] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (const int& product : products) sum += peek(&product);
        atomicAdd(out, sum);
    }
    if (threadIdx.x == 255) products[255] = i < n ? a[i] * b[i] : 0;
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
