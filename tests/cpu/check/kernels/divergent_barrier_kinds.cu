// In a 2D block, some threads wait at __syncthreads_count() and the others at __syncthreads().
#include <cuda_runtime.h>

__global__ void count_kernel(int* out) {
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    int count = 0;
    if (threadIdx.y < 4) {
        count = __syncthreads_count(threadIdx.x % 2);  //! divergent_barrier
    } else {
        __syncthreads();  //! divergent_barrier
    }
    out[t] = count;
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    count_kernel<<<1, dim3(8, 8)>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
