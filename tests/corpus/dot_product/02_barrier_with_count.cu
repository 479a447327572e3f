#include "labs/dot_product/lab.h"

#define N_THREADS 512

__global__ void dotKernel(const int *a, const int *b, int *out, size_t n)
{
    __shared__ int part[N_THREADS];
    const unsigned t = threadIdx.x;
    const size_t i = (size_t)blockIdx.x * N_THREADS + t;

    int p = 0;
    if (i < n) p = a[i] * b[i];
    part[t] = p;

    // nothing to add if every product of this block is zero
    int nonzero = __syncthreads_count(p != 0);
    if (nonzero == 0) return;

    for (unsigned s = 1; s < N_THREADS; s *= 2)
    {
        if (t % (2 * s) == 0)
        {
            part[t] += part[t + s];
        }
        (void)__syncthreads_or(0);
    }
    if (t == 0) atomicAdd(out, part[0]);
}

void dot_product(const int *a, const int *b, int *out, size_t n, void *)
{
    CUDA_CHECK(cudaMemset(out, 0, 4));
    if (n == 0)
        return;
    dim3 grid((unsigned)((n - 1) / N_THREADS + 1), 1, 1);
    dim3 block(N_THREADS, 1, 1);
    dotKernel<<<grid, block>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());
}
