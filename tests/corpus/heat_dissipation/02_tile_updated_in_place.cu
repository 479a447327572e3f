#include <utility>

#include "labs/heat_dissipation/lab.h"

#define T 16
#define AT(y, x) tile[(y) * (T + 2) + (x)]

__global__ void update(const double *cur, double *nxt, const double *cond, int rows, int cols, unsigned long long *mx)
{
    __shared__ double tile[(T + 2) * (T + 2)];
    const int p = cols + 2, j0 = blockIdx.x * T, i0 = blockIdx.y * T;
    for (int k = threadIdx.y * T + threadIdx.x; k < (T + 2) * (T + 2); k += T * T) {
        int y = k / (T + 2), x = k % (T + 2);
        if (i0 + y < rows + 2 && j0 + x < p) tile[k] = cur[(size_t)(i0 + y) * p + j0 + x];
    }
    __syncthreads();
    const int j = j0 + threadIdx.x, i = i0 + threadIdx.y, x = threadIdx.x + 1, y = threadIdx.y + 1;
    if (i < rows && j < cols) {
        double c = cond[(size_t)i * cols + j], old = AT(y, x);
        AT(y, x) = c * old + (1 - c) * (direct_weight * (AT(y - 1, x) + AT(y + 1, x) + AT(y, x - 1) + AT(y, x + 1)) +
                                        diagonal_weight * (AT(y - 1, x - 1) + AT(y - 1, x + 1) +
                                                           AT(y + 1, x - 1) + AT(y + 1, x + 1)));
        double v = AT(y, x);
        double *row = nxt + (size_t)(i + 1) * p;
        row[j + 1] = v;
        if (j == 0) row[cols + 1] = v;
        if (j == cols - 1) row[0] = v;
        atomicMax(mx, (unsigned long long)__double_as_longlong(fabs(v - old)));
    }
}

size_t heat_dissipation_scratch_bytes(size_t, size_t, size_t) { return 8; }

HeatState heat_dissipation(double *current, double *next, const double *conductivity, size_t rows, size_t columns,
                           double threshold, size_t max_iterations, void *scratch)
{
    HeatState s = {current, 0, 0};
    while (s.iterations < max_iterations) {
        CUDA_CHECK(cudaMemset(scratch, 0, 8));
        update<<<dim3((columns + T - 1) / T, (rows + T - 1) / T), dim3(T, T)>>>(current, next, conductivity, (int)rows,
                                                                               (int)columns, (unsigned long long *)scratch);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&s.largest_change, scratch, 8, cudaMemcpyDeviceToHost));
        s.iterations++;
        std::swap(current, next);
        s.field = current;
        if (s.largest_change < threshold) break;
    }
    return s;
}
