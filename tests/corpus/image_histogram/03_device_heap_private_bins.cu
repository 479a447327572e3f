#include "labs/image_histogram/lab.h"

__global__ void histogram(const unsigned char* data, unsigned* out, size_t n)
{
    __shared__ unsigned* local;
    if (threadIdx.x == 0) {
        local = static_cast<unsigned*>(malloc(256 * sizeof(unsigned)));
        if (local) memset(local, 0, 256 * sizeof(unsigned));
    }
    __syncthreads();
    unsigned* where = local ? local : out;   // without heap memory count in the global bins

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        atomicAdd(&where[data[i]], 1u);
    __syncthreads();

    if (local)
        for (unsigned b = threadIdx.x; b < 256; b += blockDim.x)
            if (local[b]) atomicAdd(&out[b], local[b]);
    __syncthreads();
    if (threadIdx.x == 0) free(local);
}

void image_histogram(const unsigned char* data, unsigned* out, size_t n, void*)
{
    CUDA_CHECK(cudaMemset(out, 0, 1024));
    histogram<<<48, 256>>>(data, out, n);
    CUDA_CHECK(cudaGetLastError());
}
