// Each block of a cooperative launch keeps its shared memory across grid.sync(), and several threads read it later.
#include <cooperative_groups.h>

#include <cstdio>

__global__ void kernel(int* totals, int* sum) {
    __shared__ int first;
    __shared__ int half_set[2];
    if (threadIdx.x == 0) first = half_set[0] = blockIdx.x;
    __syncthreads();
    atomicAdd(&totals[first], 1);
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 1) half_set[1] = first;
    __syncthreads();
    atomicAdd(sum, totals[first] + half_set[0] - half_set[1]);
    cooperative_groups::this_grid().sync();
    atomicAdd(sum, first - half_set[1]);
}

int main() {
    int *memory, result = 0;
    cudaMalloc(&memory, 5 * sizeof(int));
    cudaMemset(memory, 0, 5 * sizeof(int));
    int *totals = memory, *sum = memory + 4;
    void* arguments[] = {&totals, &sum};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), 4, 32, arguments, 0, nullptr);
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(memory);
    std::puts(result == 4 * 32 * 32 ? "ok" : "wrong");
}
