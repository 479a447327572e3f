// One shared array in three roles, with a barrier between them; the last role belongs to one warp.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void roles_kernel(const int* x, int* out) {
    __shared__ int values[64];
    int t = threadIdx.x;
    values[t] = x[t];
    __syncthreads();
    int mirrored = values[63 - t];
    __syncthreads();
    values[t / 2 + t % 2 * 32] = mirrored;
    __syncthreads();
    if (t >= 32) return;
    int right = values[(t + 1) % 32] + values[t + 32];
    __syncwarp();
    values[t] = right;
    __syncwarp();
    out[t] = values[31 - t];
}

int main() {
    int host[64], *x, *out;
    for (int i = 0; i < 64; i++) host[i] = i;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    roles_kernel<<<1, 64>>>(x, out);
    cudaMemcpy(host, out, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    bool right = host[31] == 61 + 62 && host[0] == 63 + 0;
    puts(right ? "ok" : "wrong");
    return !right;
}
