// A tree reduction without a barrier between its levels.
#include <cuda_runtime.h>

__global__ void reduce_kernel(const int* x, int* out) {
    __shared__ int sums[256];
    int t = threadIdx.x;
    sums[t] = x[t];
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (t < stride) sums[t] += sums[t + stride];  //! race
    }
    if (t == 0) *out = sums[0];
}

int main() {
    int *x, *out;
    cudaMalloc(&x, 256 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(x, 0, 256 * sizeof(int));
    reduce_kernel<<<1, 256>>>(x, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
