// One thread writes a word, another reads one byte of it.
#include <cuda_runtime.h>

__global__ void bytes_kernel(unsigned char* out) {
    __shared__ unsigned words[64];
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(words);
    int t = threadIdx.x;
    words[t] = 0x01020304u * t;                     //! race
    unsigned char byte = bytes[(4 * t + 6) % 256];  //! race
    out[t] = byte;
}

int main() {
    unsigned char* out;
    cudaMalloc(&out, 64);
    bytes_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
