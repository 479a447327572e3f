// Functions that are not inlined: templates with type and number parameters, recursive ones, and constexpr ones.
#include <cuda_runtime.h>

#include <cstdio>

template <class T, int n>
struct Row {
    T values[n];
};

template <class T, int n>
__device__ __noinline__ Row<T, n> load_row(const T* from, int stride) {
    Row<T, n> row;
    for (int i = 0; i < n; i++) row.values[i] = from[i * stride];
    return row;
}

template <class T>
__device__ __noinline__ T larger(T a, T b) {
    return a < b ? b : a;
}

template <int n>
__device__ __noinline__ float sum_of(const Row<float, n>& row) {
    float sum = 0;
    for (float value : row.values) sum += value;
    return sum;
}

__device__ constexpr int next_power(int n) {
    int power = 1;
    while (power < n) power *= 2;
    return power;
}

template <class T>
constexpr __device__ T square(T x) {
    return x * x;
}

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

__device__ float sum_tree(const float* values, int n) {
    return n == 1 ? values[0] : sum_tree(values, n / 2) + sum_tree(values + n / 2, n - n / 2);
}

__global__ void mixed_kernel(const float* in, float* out, int* numbers) {
    __shared__ float tile[next_power(50)];
    static_assert(next_power(50) == 64, "");
    int t = threadIdx.x;
    tile[t] = square(in[t]);
    __syncthreads();
    Row<float, 4> row = load_row<float, 4>(tile + t % 16, 16);
    out[t] = larger(sum_of(row), sum_tree(tile, 64));
    numbers[t] = fibonacci(t % 12) + larger(t, 3);
}

int main() {
    float *in, *out, ones[64], result[64];
    int *numbers, counted[64];
    for (float& one : ones) one = 1;
    cudaMalloc(&in, sizeof ones);
    cudaMalloc(&out, sizeof ones);
    cudaMalloc(&numbers, sizeof counted);
    cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
    mixed_kernel<<<1, 64>>>(in, out, numbers);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    cudaMemcpy(counted, numbers, sizeof counted, cudaMemcpyDeviceToHost);
    bool right = result[63] == 64 && counted[11] == 89 + 11 && counted[0] == 3;
    puts(right ? "ok" : "wrong");
    return !right;
}
