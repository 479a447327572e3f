// Copies to and from device variables in a stream alternate with kernels in that stream.
#include <cstdio>

__constant__ int factor;
__device__ int total;

__global__ void add_kernel(const int* x) { atomicAdd(&total, factor * x[threadIdx.x]); }

int main() {
    int *x, *values;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMallocHost(&values, 3 * sizeof(int));
    values[0] = 1;
    values[1] = 2;
    cudaMemsetAsync(x, 0, 64 * sizeof(int), stream);
    for (int i = 0; i < 2; ++i) {
        cudaMemcpyToSymbolAsync(factor, &values[i], sizeof(int), 0, cudaMemcpyHostToDevice, stream);
        add_kernel<<<1, 64, 0, stream>>>(x);
    }
    cudaMemcpyFromSymbolAsync(&values[2], total, sizeof(int), 0, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    std::puts(values[2] == 0 ? "ok" : "wrong");
    cudaFreeHost(values);
    cudaFree(x);
    cudaStreamDestroy(stream);
}
