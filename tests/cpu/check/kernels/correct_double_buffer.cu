// Two tiles are used in turn, so one barrier per round is enough.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void sum_tiles_kernel(const int* x, int* out, int tiles) {
    __shared__ int tile[2][64];
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        tile[k % 2][threadIdx.x] = x[k * 64 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; j++) sum += tile[k % 2][j];
    }
    out[threadIdx.x] = sum;
}

int main() {
    int host[320], sums[64], *x, *out;
    for (int i = 0; i < 320; i++) host[i] = i;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&out, sizeof(sums));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    sum_tiles_kernel<<<1, 64>>>(x, out, 5);
    cudaMemcpy(sums, out, sizeof(sums), cudaMemcpyDeviceToHost);
    bool right = sums[0] == 319 * 160 && sums[63] == sums[0];
    puts(right ? "ok" : "wrong");
    return !right;
}
