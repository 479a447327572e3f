// Device variables whose declarations could be those of functions, next to clear ones.
#include <cstdio>

#define DEVICE_OF(type) __device__ type

constexpr int first_value = 1;
struct Point {
    int x;
    constexpr Point(int x_ = 0) : x(x_) {}
};
constexpr Point origin(2);

__device__ int certain[4];
__device__ int unclear(first_value);
__device__ int(nested)(first_value);
__device__ Point copy(origin);
DEVICE_OF(int) after_macro;
__device__ int certain_too;

__device__ int next() {
    static __device__ int calls(first_value);
    return atomicAdd(&calls, 1);
}

__global__ void sum_kernel(int* sum) {
    certain[threadIdx.x % 4] = 0;
    if (threadIdx.x != 0) return;
    unclear += next();
    after_macro = nested + copy.x;
    *sum = unclear + after_macro + certain_too;
}

int main() {
    int *sum, result = 0;
    cudaMalloc(&sum, sizeof(int));
    sum_kernel<<<1, 4>>>(sum);
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(sum);
    std::puts(result == 2 + 1 + 2 ? "ok" : "wrong");
}
