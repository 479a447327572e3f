// A kernel counts in constant memory, whose address the host passed to it.
#include <cuda_runtime.h>

struct Limits {
    int low, high;
};
__constant__ Limits limits;

__global__ void count_kernel(int* counter) {
    atomicAdd(counter, limits.low);  //! constant_written
}

int main() {
    const Limits ones = {1, 1};
    void* place;
    cudaMemcpyToSymbol(limits, &ones, sizeof ones);
    cudaGetSymbolAddress(&place, limits);
    count_kernel<<<1, 4>>>(&static_cast<Limits*>(place)->high);
    return cudaDeviceSynchronize() != cudaSuccess;
}
