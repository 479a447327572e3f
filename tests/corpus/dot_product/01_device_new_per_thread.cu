#include "labs/dot_product/lab.h"

class Accumulator {
    unsigned* value;
public:
    __device__ Accumulator() { value = new unsigned(0u); }
    __device__ ~Accumulator() { delete value; }
    __device__ void add(int x, int y) { *value += (unsigned)x * (unsigned)y; }
    __device__ unsigned get() const { return *value; }
};

__global__ void kernel(const int* a, const int* b, int* out, size_t n)
{
    __shared__ unsigned partial[64];
    {
        Accumulator acc;
        for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
            acc.add(a[i], b[i]);
        partial[threadIdx.x] = acc.get();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned total = 0;
        for (int t = 0; t < 64; t++) total += partial[t];
        atomicAdd((unsigned*)out, total);
    }
}

void dot_product(const int* a, const int* b, int* out, size_t n, void*)
{
    CUDA_CHECK(cudaMemset(out, 0, sizeof *out));
    kernel<<<32, 64>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
