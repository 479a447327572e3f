// Blocks do work of their own between grid.barrier_arrive() and barrier_wait().
#include <cooperative_groups.h>

#include <cstdio>
#include <utility>

namespace cg = cooperative_groups;

__global__ void kernel(int* values, int* late, int* out) {
    __shared__ int own[32];
    const cg::grid_group grid = cg::this_grid();
    const int i = grid.thread_rank(), other = grid.size() - 1 - i;
    int sum = 0;
    for (int round = 0; round < 3; ++round) {
        values[i] = i + round;
        auto token = grid.barrier_arrive();
        own[threadIdx.x] = values[i];
        late[i] = round;  // others read it after the next barrier
        __syncthreads();
        sum += own[31 - threadIdx.x] - own[threadIdx.x];
        grid.barrier_wait(std::move(token));
        sum += values[other] - round;
        grid.sync();
        sum += late[other] - round;
        grid.sync();
    }
    out[i] = sum;
}

int main() {
    int host[128], *values, *late, *out, wrong = 0;
    for (int** array : {&values, &late, &out}) cudaMalloc(array, sizeof host);
    void* arguments[] = {&values, &late, &out};
    cudaLaunchCooperativeKernel(kernel, dim3(4), dim3(32), arguments, 0, nullptr);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; ++i) wrong += host[i] != 3 * (127 - i + 31 - 2 * (i % 32));
    for (int* array : {values, late, out}) cudaFree(array);
    puts(wrong ? "wrong" : "ok");
}
