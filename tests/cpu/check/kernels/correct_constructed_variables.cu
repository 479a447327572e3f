// Device variables with initialisers in parentheses, in extern "C", and several in a declaration.
#include <cstdio>
#include <cuda/atomic>

struct Pair {
    int x, y;
    constexpr Pair(int x_ = 0, int y_ = 0) : x(x_), y(y_) {}
};

__device__ int total(0);
__device__ Pair pair(1, 2);
__constant__ Pair fixed(3, 4);
__managed__ int managed(5);
extern "C" {
__device__ int linked = 6;
}
__device__ int first = 1, second(2), third{3};
__device__ cuda::atomic<int, cuda::thread_scope_device> turn(0);

__global__ void sum_kernel(int* sum) {
    atomicAdd(&total, pair.x + pair.y + fixed.x + fixed.y + linked + first + second + third);
    turn.fetch_add(1);
    __syncthreads();
    if (threadIdx.x == 0) *sum = total + managed + turn.load();
}

int main() {
    int *sum, result = 0;
    cudaMalloc(&sum, sizeof(int));
    sum_kernel<<<1, 64>>>(sum);
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(sum);
    std::puts(result == 64 * 22 + 5 + 64 ? "ok" : "wrong");
}
