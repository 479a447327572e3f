// Jacobi iterations: pointers swapped between launches, launches as single statements, and the largest change of each
// block.
#include <cmath>
#include <utility>

#define IDX(r, c) ((r) * (columns) + (c))

__global__ void sweep(const double *old_grid, double *new_grid, int rows, int columns, double *residual)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x + 1;
    const int r = blockIdx.y * blockDim.y + threadIdx.y + 1;
    __shared__ double worst[8][32];
    double change = 0;
    if (r < rows - 1 && c < columns - 1) {
        new_grid[IDX(r, c)] = 0.25 * (old_grid[IDX(r - 1, c)] + old_grid[IDX(r + 1, c)] +
                                      old_grid[IDX(r, c - 1)] + old_grid[IDX(r, c + 1)]);
        change = fabs(new_grid[IDX(r, c)] - old_grid[IDX(r, c)]);
    }
    worst[threadIdx.y][threadIdx.x] = change;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        for (int i = 0; i < 8; ++i)
            for (int j = 0; j < 32; ++j) change = fmax(change, worst[i][j]);
        residual[blockIdx.y * gridDim.x + blockIdx.x] = change;
    }
}

__global__ void set(double *grid, int n, double value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) grid[i] = value;
}

int main()
{
    const int rows = 34, columns = 66, n = rows * columns;
    double *a, *b, *residual;
    cudaMallocManaged(&a, n * sizeof(double));
    cudaMallocManaged(&b, n * sizeof(double));
    cudaMallocManaged(&residual, 8 * sizeof(double));
    for (int pass = 0; pass < 2; ++pass)
        if (pass == 0)
            set<<<(n + 255) / 256, 256>>>(a, n, 0.0);
        else
            set<<<(n + 255) / 256, 256>>>(b, n, 0.0);
    cudaDeviceSynchronize();
    for (int c = 0; c < columns; ++c) a[IDX(0, c)] = b[IDX(0, c)] = 1.0;

    const dim3 block{32, 8}, grid{(columns - 2 + 31) / 32, (rows - 2 + 7) / 8, 1};
    double worst = 1;
    int iterations = 0;
    for (; worst > 1e-3 && iterations < 1000; std::swap(a, b), ++iterations) {
        sweep<<<grid,
                block,
                0>>>(a, b,  // from, to
                     rows, columns, residual);
        cudaDeviceSynchronize(), worst = 0;
        for (unsigned i = 0; i < grid.x * grid.y; ++i) worst = std::fmax(worst, residual[i]);
    }
    if (iterations < 10 || iterations == 1000) return 1;
    for (int r = 1; r < rows - 1; ++r)
        if (!(a[IDX(r, 1)] > 0 && a[IDX(r, 1)] < a[IDX(r - 1, 1)])) return 1;
    return 0;
}
