// Neighbouring threads write the bytes of one word, in shared and in global memory.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void invert_kernel(unsigned char* image, int n) {
    __shared__ unsigned char copy[96];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) copy[threadIdx.x] = image[i];
    if (i < n) image[i] = 255 - copy[threadIdx.x];
}

int main() {
    const int n = 250;
    unsigned char host[n], *image;
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMalloc(&image, n);
    cudaMemcpy(image, host, n, cudaMemcpyHostToDevice);
    invert_kernel<<<3, 96>>>(image, n);
    cudaMemcpy(host, image, n, cudaMemcpyDeviceToHost);
    bool right = host[0] == 255 && host[249] == 6;
    puts(right ? "ok" : "wrong");
    return !right;
}
