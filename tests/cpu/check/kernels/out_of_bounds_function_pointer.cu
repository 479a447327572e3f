// A function that is called through a pointer writes past the end.
#include <cuda_runtime.h>

using Store = void (*)(int*, int);

__device__ void store_here(int* out, int i) { out[i] = i; }
__device__ void store_next(int* out, int i) {
    out[i + 1] = i;  //! out_of_bounds
}

__global__ void store_kernel(int* out, int which) {
    const Store stores[] = {store_here, store_next};
    stores[which](out, threadIdx.x);
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    store_kernel<<<1, 64>>>(out, 0);
    store_kernel<<<1, 64>>>(out, 1);
    return cudaDeviceSynchronize() != cudaSuccess;
}
