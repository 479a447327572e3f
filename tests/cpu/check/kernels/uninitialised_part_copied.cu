// The size of the copy is in elements, not bytes: it ends within the ninth element.
#include <cuda_runtime.h>

__global__ void ninth_kernel(const int* in, int* out) {
    *out = in[7] +
           in[8];  //! uninitialised
}

int main() {
    int host[34] = {}, *in, *out;
    cudaMalloc(&in, sizeof(host));
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, host, 34, cudaMemcpyHostToDevice);
    ninth_kernel<<<1, 1>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
