// Functions return vectors and structs directly into shared and device memory.
#include <cuda_runtime.h>

#include <cstdio>

struct Range {
    int low, middle, high;
};

__device__ float4 twice(float4 v) { return make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }
__device__ Range around(int i) { return {i - 1, i, i + 1}; }

__global__ void twice_kernel(const float4* in, float4* out, Range* ranges) {
    __shared__ float4 tile[32];
    __shared__ Range shared_ranges[32];
    int t = threadIdx.x;
    tile[t] = twice(in[t]);
    shared_ranges[t] = around(t);
    __syncthreads();
    out[t] = twice(tile[31 - t]);
    ranges[t] = around(shared_ranges[31 - t].high);
}

__global__ void sum_kernel(const float4* in, const Range* ranges, float* sum) {
    if (threadIdx.x == 0) *sum = in[0].x + in[31].w + ranges[0].high;
}

int main() {
    float4 *in, *out;
    Range* ranges;
    float *sum, result = 0;
    cudaMalloc(&in, 32 * sizeof(float4));
    cudaMalloc(&out, 32 * sizeof(float4));
    cudaMalloc(&ranges, 32 * sizeof(Range));
    cudaMalloc(&sum, sizeof(float));
    cudaMemset(in, 0, 32 * sizeof(float4));
    twice_kernel<<<1, 32>>>(in, out, ranges);
    sum_kernel<<<1, 32>>>(out, ranges, sum);
    cudaMemcpy(&result, sum, sizeof(float), cudaMemcpyDeviceToHost);
    puts(result == 33 ? "ok" : "wrong");
    return result != 33;
}
