// Functions that are not inlined return and take structs and vectors, by value, from and to shared and device memory.
#include <cuda_runtime.h>

#include <cstdio>

struct Body {
    float4 place;
    float mass;
    int neighbours[3];
};

__device__ __noinline__ Body make_body(int i) { return {make_float4(i, 2 * i, 3 * i, 1), 0.5f * i, {i - 1, i, i + 1}}; }
__device__ __noinline__ float4 weighted(Body body) {
    float m = body.mass;
    return make_float4(m * body.place.x, m * body.place.y, m * body.place.z, body.neighbours[2]);
}
__device__ __noinline__ float2 halves(double2 v) { return make_float2(v.x / 2, v.y / 2); }
__device__ __noinline__ Body heavier(const Body& a, Body b) { return a.mass > b.mass ? a : b; }

__global__ void bodies_kernel(Body* bodies, float4* sums, float2* pairs, Body first) {
    __shared__ Body tile[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = make_body(i);
    __syncthreads();
    Body other = tile[63 - t];
    sums[i] = weighted(tile[63 - t]);
    bodies[i] = heavier(other, first);
    pairs[i] = halves(make_double2(t, i));
}

__global__ void heaviest_kernel(const Body* bodies, Body* heaviest, int n) {
    Body best = bodies[0];
    for (int i = 1; i < n; i++) best = heavier(best, bodies[i]);
    if (threadIdx.x == 0) *heaviest = best;
}

int main() {
    Body *bodies, *heaviest, result, first = {make_float4(0, 0, 0, 0), 7, {0, 0, 0}};
    float4 *sums, sum;
    float2* pairs;
    cudaMalloc(&bodies, 128 * sizeof(Body));
    cudaMalloc(&heaviest, sizeof(Body));
    cudaMalloc(&sums, 128 * sizeof(float4));
    cudaMalloc(&pairs, 128 * sizeof(float2));
    bodies_kernel<<<2, 64>>>(bodies, sums, pairs, first);
    heaviest_kernel<<<1, 64>>>(bodies, heaviest, 128);
    cudaMemcpy(&result, heaviest, sizeof result, cudaMemcpyDeviceToHost);
    cudaMemcpy(&sum, sums + 127, sizeof sum, cudaMemcpyDeviceToHost);
    bool right = result.neighbours[1] == 127 && result.place.z == 381 && sum.x == 32 * 64 && sum.w == 65;
    puts(right ? "ok" : "wrong");
    return !right;
}
