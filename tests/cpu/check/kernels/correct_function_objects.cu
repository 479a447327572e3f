// Code that is passed along: function pointers, a table of them, lambdas and objects with operator().
#include <cuda_runtime.h>

#include <cstdio>

using Operation = float (*)(float, float);

__device__ float add(float a, float b) { return a + b; }
__device__ __noinline__ float multiply(float a, float b) { return a * b; }
__device__ Operation chosen = multiply;

struct Scaled {
    float factor;
    const float* offsets;
    __device__ float operator()(float x) const { return factor * x + offsets[0]; }
};

class Counter {
  public:
    __device__ explicit Counter(int* where) : where_(where) {}
    __device__ __noinline__ int operator()(int step) { return atomicAdd(where_, step); }
    __device__ int seen() const { return seen_; }
    __device__ void see() { ++seen_; }

  private:
    int* where_;
    int seen_ = 0;
};

template <class Function>
__global__ void map_kernel(const float* in, float* out, Function function) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = function(in[i]);
}

__global__ void operations_kernel(const float* in, float* out, int* total) {
    const Operation operations[] = {add, multiply};
    int t = threadIdx.x;
    auto both = [&](float x) { return operations[t % 2](x, in[0]) + chosen(x, 2); };
    Counter counter(total);
    for (int i = 0; i < 3; i++) {
        counter(1);
        counter.see();
    }
    out[t] = both(in[t]) + counter.seen();
}

int main() {
    float *in, *out, ones[64], result[64];
    int *total, count;
    for (float& one : ones) one = 1;
    cudaMalloc(&in, sizeof ones);
    cudaMalloc(&out, sizeof ones);
    cudaMalloc(&total, sizeof(int));
    cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
    cudaMemset(total, 0, sizeof(int));
    map_kernel<<<2, 32>>>(in, out, Scaled{3, in});
    map_kernel<<<2, 32>>>(out, out, [=] __device__(float x) { return x + in[1]; });
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    bool right = result[63] == 5;
    operations_kernel<<<1, 64>>>(in, out, total);
    cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
    cudaMemcpy(&count, total, sizeof count, cudaMemcpyDeviceToHost);
    right = right && result[0] == 2 + 2 + 3 && result[1] == 1 + 2 + 3 && count == 3 * 64;
    puts(right ? "ok" : "wrong");
    return !right;
}
