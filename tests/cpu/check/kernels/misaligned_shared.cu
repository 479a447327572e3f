// In dynamic shared memory doubles follow an odd number of ints.
#include <cuda_runtime.h>

__global__ void two_arrays_kernel(double* out, int n) {
    extern __shared__ int counts[];
    double* sums = reinterpret_cast<double*>(counts + n);
    if (threadIdx.x < n) {
        counts[threadIdx.x] = threadIdx.x;
        sums[threadIdx.x] = 0.5;  //! misaligned
        out[threadIdx.x] = counts[threadIdx.x];
    }
}

int main() {
    double* out;
    cudaMalloc(&out, 33 * sizeof(double));
    two_arrays_kernel<<<1, 64, 33 * (sizeof(int) + sizeof(double))>>>(out, 33);
    return cudaDeviceSynchronize() != cudaSuccess;
}
