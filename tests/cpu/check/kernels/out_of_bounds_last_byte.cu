// Ten bytes are allocated, and the eleventh is written.
#include <cuda_runtime.h>

__global__ void text_kernel(char* text, int length) {
    if (threadIdx.x < length) text[threadIdx.x] = 'a' + threadIdx.x;
    if (threadIdx.x == length) text[length] = 0;  //! out_of_bounds
}

int main() {
    char* text;
    cudaMalloc(&text, 10);
    text_kernel<<<1, 32>>>(text, 10);
    return cudaDeviceSynchronize() != cudaSuccess;
}
