// A copy in a stream that does not wait for the default stream reads values that a kernel may not have written yet.
#include <cuda_runtime.h>

__global__ void fill_kernel(int* x) {
    x[threadIdx.x] = threadIdx.x;  //! unfinished
}

int main() {
    int *x, *host;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMallocHost(&host, 64 * sizeof(int));
    fill_kernel<<<1, 64>>>(x);
    cudaMemcpyAsync(host, x, 64 * sizeof(int), cudaMemcpyDeviceToHost, stream);  //! unfinished
    return cudaDeviceSynchronize() != cudaSuccess;
}
