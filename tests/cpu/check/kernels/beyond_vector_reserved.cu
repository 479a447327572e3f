// reserve() makes room, but a vector's size stays 0: its elements do not exist yet.
#include <cuda_runtime.h>

#include <vector>

__global__ void double_kernel(int* x) { x[threadIdx.x] *= 2; }

int main() {
    std::vector<int> host, back;
    host.reserve(32);
    back.reserve(32);
    for (int i = 0; i < 32; ++i) host[i] = i;  //! beyond_vector
    int* device;
    cudaMalloc(&device, 32 * sizeof(int));
    cudaMemcpy(device, host.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);  //! beyond_vector
    double_kernel<<<1, 32>>>(device);
    cudaMemcpy(back.data(), device, 32 * sizeof(int), cudaMemcpyDeviceToHost);  //! beyond_vector
    return cudaFree(device) != cudaSuccess;
}
