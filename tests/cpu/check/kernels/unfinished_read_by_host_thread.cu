// A second host thread reads managed memory that a kernel still writes.
#include <cuda_runtime.h>

#include <thread>

__global__ void fill_kernel(int* x) {
    x[threadIdx.x] = threadIdx.x;  //! unfinished
}

int main() {
    int *x, sum = 0;
    cudaMallocManaged(&x, 64 * sizeof(int));
    fill_kernel<<<1, 64>>>(x);
    std::thread([&] {
        for (int i = 0; i < 64; ++i) sum += x[i];  //! unfinished
    }).join();
    return cudaDeviceSynchronize() != cudaSuccess || sum != 63 * 32;
}
