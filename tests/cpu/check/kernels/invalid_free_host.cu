// cudaFree() gets the host pointer instead of the device pointer.
#include <cuda_runtime.h>

__global__ void fill_kernel(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
    int *host = new int[32], *device;
    cudaMalloc(&device, 32 * sizeof(int));
    fill_kernel<<<1, 32>>>(device);
    cudaMemcpy(host, device, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(host);  //! invalid_free
    cudaFree(device);
    delete[] host;
    return 0;
}
