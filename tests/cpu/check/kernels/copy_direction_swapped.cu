// Destination and source are swapped: the destination is the first argument.
#include <cuda_runtime.h>

#include <vector>

__global__ void fill_kernel(float* x) { x[threadIdx.x] = threadIdx.x; }

int main() {
    std::vector<float> host(64);
    float* x;
    cudaMalloc(&x, 64 * sizeof(float));
    fill_kernel<<<1, 64>>>(x);
    cudaMemcpy(x, host.data(), 64 * sizeof(float), cudaMemcpyDeviceToHost);  //! copy_direction
    return cudaDeviceSynchronize() != cudaSuccess;
}
