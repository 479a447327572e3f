// Open: g++ adds no hooks to reads of an array that is declared const. The file makes the array's page writable, and
// threads race on it.
#include <sys/mman.h>

#include "labs/dot_product/lab.h"

static __device__ const int table[4096] = {1, 2, 3, 4, 5};

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    int* const products = const_cast<int*>(table) + 2048;
    products[threadIdx.x] = threadIdx.x < n ? a[threadIdx.x] * b[threadIdx.x] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int k = 0; k < 256; ++k) sum += table[2048 + k];
        atomicAdd(out, sum);
    }
    if (threadIdx.x == 255) products[255] = threadIdx.x < n ? a[threadIdx.x] * b[threadIdx.x] : 0;
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static const auto page = reinterpret_cast<unsigned long>(table) & ~4095ul;
    static const int opened = mprotect(reinterpret_cast<void*>(page), 8 * 4096, PROT_READ | PROT_WRITE);
    CUDA_CHECK(cudaMemset(out, opened, sizeof(int)));
    for (std::size_t k = 0; k < n; k += 256) dot_product_kernel<<<1, 256>>>(a + k, b + k, out, n - k);
}
