// The allocation forgets sizeof: it has n bytes, and n ints are copied from it.
#include <cuda_runtime.h>

#include <vector>

__global__ void clear_kernel(char* x) { x[threadIdx.x] = 0; }

int main() {
    const int n = 512;
    std::vector<int> host(n);
    int* x;
    cudaMalloc(&x, n);
    clear_kernel<<<1, n>>>(reinterpret_cast<char*>(x));
    cudaMemcpy(host.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost);  //! copy_size
    return cudaDeviceSynchronize() != cudaSuccess;
}
