// Byte counters are updated by atomics on their word and read as bytes.
#include <cuda_runtime.h>

__global__ void bytes_kernel(const int* values, unsigned* words) {
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(words);
    int v = values[threadIdx.x];
    if (bytes[v] < 100) atomicAdd(&words[v / 4], 1u << (v % 4 * 8));  //! note
}

int main() {
    int host[128], *values;
    unsigned* words;
    for (int i = 0; i < 128; i++) host[i] = i % 16;
    cudaMalloc(&values, sizeof(host));
    cudaMalloc(&words, 16);
    cudaMemcpy(values, host, sizeof(host), cudaMemcpyHostToDevice);
    cudaMemset(words, 0, 16);
    bytes_kernel<<<1, 128>>>(values, words);
    return cudaDeviceSynchronize() != cudaSuccess;
}
