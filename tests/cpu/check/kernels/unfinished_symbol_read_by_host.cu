// The host uses the result of an asynchronous copy from a device variable before it waits for the copy.
#include <cuda_runtime.h>

__device__ int total = 3;

int main() {
    int* result;
    cudaMallocHost(&result, sizeof(int));
    cudaMemcpyFromSymbolAsync(result, total, sizeof(int), 0, cudaMemcpyDeviceToHost);  //! unfinished
    const int early = *result;  //! unfinished
    cudaDeviceSynchronize();
    return early == 0;
}
