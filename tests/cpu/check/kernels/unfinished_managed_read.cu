// The host reads managed memory right after the launch of the kernel that writes it.
#include <cuda_runtime.h>

__global__ void fill_kernel(int* x) {
    x[threadIdx.x] = threadIdx.x;  //! unfinished
}

int main() {
    int* x;
    cudaMallocManaged(&x, 64 * sizeof(int));
    fill_kernel<<<1, 64>>>(x);
    const int last = x[63];  //! unfinished
    cudaDeviceSynchronize();
    return last - x[63];
}
