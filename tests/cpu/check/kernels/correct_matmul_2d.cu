// Tiles of two matrices, with both barriers, in a loop that all threads run equally often; edges are filled with zeros.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void multiply_kernel(const int* a, const int* b, int* c, int n) {
    __shared__ int tile_a[8][8], tile_b[8][9];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 8 + x, row = blockIdx.y * 8 + y, sum = 0;
    for (int k = 0; k < n; k += 8) {
        tile_a[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
        tile_b[y][x] = column < n && k + y < n ? b[(k + y) * n + column] : 0;
        __syncthreads();
        for (int j = 0; j < 8; j++) sum += tile_a[y][j] * tile_b[j][x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

int main() {
    const int n = 19;
    int host[n * n], *a, *b, *c;
    for (int i = 0; i < n * n; i++) host[i] = i % 5;
    cudaMalloc(&a, sizeof(host));
    cudaMalloc(&b, sizeof(host));
    cudaMalloc(&c, sizeof(host));
    cudaMemcpy(a, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, sizeof(host), cudaMemcpyHostToDevice);
    multiply_kernel<<<dim3(3, 3), dim3(8, 8)>>>(a, b, c, n);
    int product[n * n], expected = 0;
    cudaMemcpy(product, c, sizeof(product), cudaMemcpyDeviceToHost);
    for (int k = 0; k < n; k++) expected += host[18 * n + k] * host[k * n + 18];
    bool right = product[n * n - 1] == expected;
    puts(right ? "ok" : "wrong");
    return !right;
}
