// One thread sets the counter to zero, and the others count without waiting at a barrier.
#include <cuda_runtime.h>

__global__ void count_kernel(int* out) {
    __shared__ int counter;
    if (threadIdx.x == 0) counter = 0;  //! atomic_race
    atomicAdd(&counter, 1);             //! atomic_race
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = counter;
}

int main() {
    int* out;
    cudaMalloc(&out, 2 * sizeof(int));
    count_kernel<<<2, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
