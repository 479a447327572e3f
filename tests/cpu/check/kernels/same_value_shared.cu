// A shared bool records that some thread has changed something.
#include <cuda_runtime.h>

__global__ void changed_kernel(int* out) {
    __shared__ bool changed;
    if (threadIdx.x == 0) changed = false;
    __syncthreads();
    if (threadIdx.x % 7 == 3) changed = true;  //! same_value
    __syncthreads();
    out[threadIdx.x] = changed;
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    changed_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
