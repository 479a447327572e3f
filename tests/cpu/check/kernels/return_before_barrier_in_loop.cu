// Threads leave a tree reduction as soon as they have nothing to add.
#include <cuda_runtime.h>

__global__ void reduce_kernel(const int* x, int* out) {
    extern __shared__ int sums[];
    int t = threadIdx.x;
    sums[t] = x[t];
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();  //! return_before_barrier
        if (t >= stride) return;
        sums[t] += sums[t + stride];
    }
    *out = sums[0];
}

int main() {
    int *x, *out;
    cudaMalloc(&x, 128 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(x, 0, 128 * sizeof(int));
    reduce_kernel<<<1, 128, 128 * sizeof(int)>>>(x, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
