// Between grid.barrier_arrive() and barrier_wait(), blocks write what others read after the barrier, and read what
// others wrote before it.
#include <cooperative_groups.h>

#include <utility>

namespace cg = cooperative_groups;

__global__ void late_write_kernel(int* values, int* out) {
    const cg::grid_group grid = cg::this_grid();
    auto token = grid.barrier_arrive();
    values[grid.thread_rank()] = grid.thread_rank();  //! race
    grid.barrier_wait(std::move(token));
    out[grid.thread_rank()] = values[grid.size() - 1 - grid.thread_rank()];  //! race
}

__global__ void early_read_kernel(int* values, int* out) {
    const cg::grid_group grid = cg::this_grid();
    grid.sync();
    values[grid.thread_rank()] = grid.thread_rank();  //! race
    auto token = grid.barrier_arrive();
    out[grid.thread_rank()] = values[grid.size() - 1 - grid.thread_rank()];  //! race
    grid.barrier_wait(std::move(token));
}

int main() {
    int *values, *out;
    cudaMalloc(&values, 128 * sizeof(int));
    cudaMalloc(&out, 128 * sizeof(int));
    cudaMemset(values, 0, 128 * sizeof(int));
    void* arguments[] = {&values, &out};
    cudaLaunchCooperativeKernel(late_write_kernel, dim3(4), dim3(32), arguments, 0, nullptr);
    cudaLaunchCooperativeKernel(early_read_kernel, dim3(4), dim3(32), arguments, 0, nullptr);
    return cudaDeviceSynchronize() != cudaSuccess;
}
