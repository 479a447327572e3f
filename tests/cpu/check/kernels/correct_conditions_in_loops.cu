// Loops read shared and device variables only under a condition: no thread reads an element that its condition
// excludes.
#include <cstdio>

__device__ int total;

__global__ void one_warp_kernel(const int* x, int n, int* sum) {
    __shared__ int base;
    const bool first_warp = threadIdx.x < 32;
    if (threadIdx.x == 0) base = 5;
    if (first_warp) __syncwarp();
    int mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        mine += x[i];
        if (first_warp) mine += base;
    }
    atomicAdd(sum, mine);
}

__global__ void optional_kernel(const int* x, int n, const int* bias, int* sum) {
    __shared__ int shared_bias[4];
    extern __shared__ int dynamic[];
    if (threadIdx.x == 0 && bias != nullptr) shared_bias[2] = dynamic[0] = *bias;
    __syncthreads();
    int mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        mine += x[i];
        if (bias != nullptr) mine += shared_bias[2] + dynamic[0];
    }
    for (int i = 0; bias && i < *bias; ++i) mine += shared_bias[2] * i;
    atomicAdd(sum, mine);
}

__global__ void one_thread_kernel(const int* x, int n, int* sum) {
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    if (first) total = 1;
    int mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        mine += x[i];
        if (first) mine += total;
    }
    atomicAdd(sum, mine);
}

__global__ void no_turns_kernel(const int* x, int n, int turns, int* sum) {
    __shared__ int factor;
    if (threadIdx.x == 0 && turns > 0) factor = 3;
    __syncthreads();
    int mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        for (int k = 0; k < turns; ++k) mine += factor * k + x[i];
    atomicAdd(sum, mine);
}

int main() {
    constexpr int n = 1024;
    int *x, *sum, result = 0;
    cudaMalloc(&x, n * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(x, 0, n * sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    one_warp_kernel<<<1, 64>>>(x, n, sum);
    optional_kernel<<<1, 64, sizeof(int)>>>(x, n, nullptr, sum);
    one_thread_kernel<<<2, 64>>>(x, n, sum);
    no_turns_kernel<<<1, 64>>>(x, n, 0, sum);
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(sum);
    std::puts(result == 5 * n / 2 + n / 64 ? "ok" : "wrong");
}
