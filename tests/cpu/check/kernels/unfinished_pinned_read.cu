// The host reads the result of an asynchronous copy before it has waited for the copy.
#include <cuda_runtime.h>

int main() {
    int *x, *host;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMallocHost(&host, 64 * sizeof(int));
    cudaMemsetAsync(x, 0, 64 * sizeof(int), stream);
    cudaMemcpyAsync(host, x, 64 * sizeof(int), cudaMemcpyDeviceToHost, stream);  //! unfinished
    const int first = host[0];  //! unfinished
    cudaStreamSynchronize(stream);
    return first + host[1];
}
