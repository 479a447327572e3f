// A program uses small parts of a large scratch buffer, under the memory limit that the judge sets.
#include <sys/resource.h>

#include <cstdio>

constexpr std::size_t bytes = std::size_t{300} << 20, half = bytes / sizeof(int) / 2;

__global__ void fill_kernel(int* values, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) values[i] = 1;
}

__global__ void sum_kernel(const int* values, const int* more, int n, int* total) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(total, values[i] + more[i]);
}

int main() {
    const rlimit limit{std::size_t{4} << 30, std::size_t{4} << 30};
    setrlimit(RLIMIT_DATA, &limit);
    constexpr int n = 100'000;
    int *scratch, *cleared, *total, result = 0;
    if (cudaMalloc(&scratch, bytes) || cudaMalloc(&cleared, bytes)) return 1;
    cudaMalloc(&total, sizeof(int));
    cudaMemset(total, 0, sizeof(int));
    cudaMemset(cleared, 0, bytes);
    fill_kernel<<<4, 64>>>(scratch, n);
    fill_kernel<<<4, 64>>>(scratch + 2 * half - n, n);
    sum_kernel<<<4, 64>>>(scratch, scratch + 2 * half - n, n, total);
    sum_kernel<<<4, 64>>>(cleared + half, cleared + 2 * half - n, n, total);
    cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost);
    cudaFree(scratch);
    cudaFree(cleared);
    cudaFree(total);
    std::puts(result == 2 * n ? "ok" : "wrong");
}
