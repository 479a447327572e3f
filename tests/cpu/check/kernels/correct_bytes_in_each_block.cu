// Each thread writes and reads its own byte. Each block reuses the shared memory of the block before it.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void kernel(unsigned char* out) {
    __shared__ unsigned char bytes[33][2];
    const unsigned t = threadIdx.y * 2 + threadIdx.x;
    bytes[t / 2][t % 2] = static_cast<unsigned char>(t);
    __syncthreads();
    bytes[threadIdx.y][threadIdx.x] = static_cast<unsigned char>(t + blockIdx.x);
    out[blockIdx.x * 66 + t] = bytes[threadIdx.y][threadIdx.x];
}

int main() {
    unsigned char host[5 * 66], *out;
    cudaMalloc(&out, sizeof host);
    kernel<<<5, dim3(2, 33)>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(out);
    bool right = host[0] == 0 && host[5 * 66 - 1] == 65 + 4;
    puts(right ? "ok" : "wrong");
    return !right;
}
