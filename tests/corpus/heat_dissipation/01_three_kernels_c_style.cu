#include <math.h>
#include "labs/heat_dissipation/lab.h"

#define BX 16
#define BY 16
#define NT 256

/* one thread per cell; rows beyond the grid's height are done in a loop */
__global__ void update(const double *u, double *v, const double *cond, double *diff, size_t rows, size_t cols)
{
    size_t w = cols + 2;
    size_t j = (size_t)blockIdx.x * BX + threadIdx.x;
    size_t i;

    if (j >= cols)
        return;
    for (i = (size_t)blockIdx.y * BY + threadIdx.y; i < rows; i += (size_t)gridDim.y * BY) {
        size_t k = (i + 1) * w + (j + 1);
        double c = cond[i * cols + j];
        double direct = u[k - 1] + u[k + 1] + u[k - w] + u[k + w];
        double diagonal = u[k - w - 1] + u[k - w + 1] + u[k + w - 1] + u[k + w + 1];
        v[k] = c * u[k] + (1 - c) * (direct_weight * direct + diagonal_weight * diagonal);
        diff[i * cols + j] = fabs(v[k] - u[k]);
    }
}

__global__ void mirror(double *v, size_t rows, size_t cols)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) {
        double *row = v + (i + 1) * (cols + 2);
        row[0] = row[cols];
        row[cols + 1] = row[1];
    }
}

/* first phase: thread t of the grid leaves the largest of values t, t + all, ... in place t */
__global__ void fold(double *diff, size_t n)
{
    size_t all = (size_t)gridDim.x * blockDim.x;
    size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    double m = 0;
    size_t k;

    if (t >= n)
        return;
    for (k = t; k < n; k += all)
        m = fmax(m, diff[k]);
    diff[t] = m;
}

/* second phase: one thread */
__global__ void last(double *diff, size_t n)
{
    double m = 0;
    size_t k;
    for (k = 0; k < n; k++)
        m = fmax(m, diff[k]);
    diff[0] = m;
}

size_t heat_dissipation_scratch_bytes(size_t rows, size_t cols, size_t iterations)
{
    return rows * cols * sizeof(double);
}

HeatState heat_dissipation(double *current, double *next, const double *cond, size_t rows, size_t cols,
                           double threshold, size_t max_iterations, void *scratch)
{
    double *diff = (double *)scratch, *t, largest = 0;
    size_t done = 0, gy = (rows + BY - 1) / BY, n = rows * cols;
    dim3 block(BX, BY), grid((cols + BX - 1) / BX, gy < 65535 ? gy : 65535);

    while (done < max_iterations) {
        update<<<grid, block>>>(current, next, cond, diff, rows, cols);
        mirror<<<(rows + NT - 1) / NT, NT>>>(next, rows, cols);
        fold<<<1, NT>>>(diff, n);
        last<<<1, 1>>>(diff, n < NT ? n : NT);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&largest, diff, sizeof(double), cudaMemcpyDeviceToHost));
        done++;
        t = current; current = next; next = t;
        if (largest < threshold)
            break;
    }
    HeatState s = {current, done, largest};
    return s;
}
