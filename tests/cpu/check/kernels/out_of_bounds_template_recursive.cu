// A recursive template function goes one element too far in shared memory.
#include <cuda_runtime.h>

template <class T>
__device__ __noinline__ T sum_down(const T* values, int i) {
    return values[i] + (i > 0 ? sum_down(values, i - 1) : T(0));  //! out_of_bounds
}

__global__ void sum_kernel(int* out) {
    __shared__ int values[32];
    values[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = sum_down(values, 32);
}

int main() {
    int* out;
    cudaMalloc(&out, sizeof(int));
    sum_kernel<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
