// Vectors in shared arrays of smaller types. The arrays begin at multiples of the vector's size, because they are
// declared so or because nvcc places them so.
#include <cstdio>
#include <cstring>

struct Complex {
    double re, im;
};

__global__ void tiles_kernel(float* out) {
    __shared__ float a[256], b[512];
    __shared__ float flag;
    reinterpret_cast<float4*>(a)[threadIdx.x] = {1, 1, 1, 1};
    reinterpret_cast<float4*>(b)[threadIdx.x] = {2, 2, 2, 2};
    if (threadIdx.x == 0) flag = 3;
    __syncthreads();
    out[threadIdx.x] = a[4 * threadIdx.x] + reinterpret_cast<float4*>(b)[63 - threadIdx.x].w + flag;
}

__global__ void aligned_kernel(float* out) {
    __shared__ char small[3];
    __shared__ alignas(16) float a[256];
    __shared__ float b[256] __attribute__((aligned(16)));
    __shared__ __align__(8) char raw[512], copied[515];
    __shared__ Complex values[64];
    if (threadIdx.x == 0) small[0] = 1;
    reinterpret_cast<float4*>(a)[threadIdx.x] = {1, 1, 1, 1};
    reinterpret_cast<float4*>(b)[threadIdx.x] = {1, 1, 1, 1};
    reinterpret_cast<int2*>(raw)[threadIdx.x] = {1, 1};
    values[threadIdx.x] = {1, 1};
    __syncthreads();
    std::memcpy(copied + 8 * threadIdx.x, raw + 8 * threadIdx.x, 8);
    const Complex value = values[63 - threadIdx.x];
    const int2 pair = reinterpret_cast<int2*>(raw)[63 - threadIdx.x];
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x] + pair.x + small[0] + copied[8 * threadIdx.x] + value.im;
}

int main() {
    float *out, results[128];
    cudaMalloc(&out, sizeof results);
    tiles_kernel<<<1, 64>>>(out);
    aligned_kernel<<<1, 64>>>(out + 64);
    cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost);
    cudaFree(out);
    bool right = true;
    for (const float result : results) right = right && result == 6;
    std::puts(right ? "ok" : "wrong");
}
