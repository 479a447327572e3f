// Arrays on a thread's own stack, also passed to a function, and a small struct as a parameter.
#include <cuda_runtime.h>

#include <cstdio>

struct Range {
    int first, last;
};

__device__ void sort(int* values, int n) {
    for (int i = 1; i < n; i++) {
        for (int j = i; j > 0 && values[j] < values[j - 1]; j--) {
            int swapped = values[j];
            values[j] = values[j - 1];
            values[j - 1] = swapped;
        }
    }
}

__global__ void median_kernel(const int* x, int* out, Range range) {
    int window[5], i = threadIdx.x;
    for (int k = 0; k < 5; k++) window[k] = x[min(max(i + k - 2, range.first), range.last)];
    __syncthreads();
    sort(window, 5);
    out[i] = window[2];
}

int main() {
    int host[64], *x, *out;
    for (int i = 0; i < 64; i++) host[i] = i % 8 == 3 ? 1000 : i;
    cudaMalloc(&x, sizeof(host));
    cudaMalloc(&out, sizeof(host));
    cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
    median_kernel<<<1, 64>>>(x, out, Range{0, 63});
    cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
    bool right = host[10] == 10 && host[11] == 12;
    puts(right ? "ok" : "wrong");
    return !right;
}
