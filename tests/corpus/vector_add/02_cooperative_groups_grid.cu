#include <cooperative_groups.h>

#include "labs/vector_add/lab.h"

namespace cg = cooperative_groups;

__global__ void vectorAdd(const float *a, const float *b, float *c, size_t n)
{
    cg::grid_group grid = cg::this_grid();
    for (size_t i = grid.thread_rank(); i < n; i += grid.size())
        c[i] = a[i] + b[i];
}

void vector_add(const float *a, const float *b, float *c, size_t n, void *)
{
    if (n == 0)
        return;
    int blocks = n < 65536 ? (int)((n + 255) / 256) : 256;
    vectorAdd<<<blocks, 256>>>(a, b, c, n);
    CUDA_CHECK(cudaGetLastError());
}
