// float4 is loaded, kept in shared memory and stored as a whole, then read member by member.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void scale_kernel(const float4* x, float4* out) {
    __shared__ float4 tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float4 four = tile[63 - threadIdx.x];
    out[threadIdx.x] = make_float4(2 * four.x, 2 * four.y, 2 * four.z, 2 * four.w);
}

__global__ void flatten_kernel(const float4* x, float* out) {
    float4 four = x[threadIdx.x];
    out[threadIdx.x] = four.x + four.y + four.z + four.w + reinterpret_cast<const float*>(x)[threadIdx.x];
}

int main() {
    float host[256];
    float4 *x, *scaled;
    float* out;
    for (int i = 0; i < 256; i++) host[i] = i;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&scaled, sizeof(host));
    cudaMalloc(&out, 64 * sizeof(float));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    scale_kernel<<<1, 64>>>(x, scaled);
    flatten_kernel<<<1, 64>>>(scaled, out);
    cudaMemcpy(host, out, 64 * sizeof(float), cudaMemcpyDeviceToHost);
    bool right = host[0] == 2 * (252 + 253 + 254 + 255) + 2 * 252;
    puts(right ? "ok" : "wrong");
    return !right;
}
