// A double is read right after a header of four bytes.
#include <cuda_runtime.h>

__global__ void read_kernel(const unsigned char* message, double* out) {
    const double* values = reinterpret_cast<const double*>(message + 4);
    double value = values[threadIdx.x];  //! misaligned
    out[threadIdx.x] = value;
}

int main() {
    unsigned char* message;
    double* out;
    cudaMalloc(&message, 4 + 8 * sizeof(double));
    cudaMalloc(&out, 8 * sizeof(double));
    cudaMemset(message, 0, 4 + 8 * sizeof(double));
    read_kernel<<<1, 8>>>(message, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
