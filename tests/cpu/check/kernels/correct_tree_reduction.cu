// A tree reduction with a barrier at each level.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void reduce_kernel(const int* x, int* out) {
    __shared__ int sums[256];
    int t = threadIdx.x;
    sums[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (t < stride) sums[t] += sums[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

int main() {
    int host[1024], sums[4], *x, *out;
    for (int i = 0; i < 1024; i++) host[i] = i;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&out, sizeof(sums));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    reduce_kernel<<<4, 256>>>(x, out);
    cudaMemcpy(sums, out, sizeof(sums), cudaMemcpyDeviceToHost);
    bool right = sums[0] + sums[1] + sums[2] + sums[3] == 1023 * 512;
    puts(right ? "ok" : "wrong");
    return !right;
}
