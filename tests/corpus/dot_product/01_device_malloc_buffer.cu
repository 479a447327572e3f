#include <cstdio>
#include "labs/dot_product/lab.h"

// Same as the __shared__ version, but the block's array comes from the device heap.
__global__ void dot_heap(const int* a, const int* b, int* out, size_t n)
{
    __shared__ int* products;
    if (threadIdx.x == 0)
        products = (int*) malloc(blockDim.x * sizeof(int));
    __syncthreads();
    if (products == NULL) {           // the same for the whole block
        if (threadIdx.x == 0) printf("block %d: out of heap memory\n", blockIdx.x);
        return;
    }

    int mine = 0;
    for (size_t i = blockIdx.x * (size_t) blockDim.x + threadIdx.x; i < n; i += (size_t) blockDim.x * gridDim.x)
        mine += a[i] * b[i];
    products[threadIdx.x] = mine;
    __syncthreads();

    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned k = 0; k < blockDim.x; ++k) sum += products[k];
        atomicAdd(out, sum);
        free(products);
    }
}

void dot_product(const int* a, const int* b, int* out, size_t n, void*)
{
    cudaMemset(out, 0, sizeof(int));
    if (n == 0) return;
    unsigned blocks = n > 64 * 128 ? 64 : (unsigned) ((n + 127) / 128);
    dot_heap<<<blocks, 128>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
