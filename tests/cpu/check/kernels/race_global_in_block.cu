// Threads of one block exchange values through global memory without a barrier.
#include <cuda_runtime.h>

__global__ void rotate_kernel(int* x, int* out) {
    int t = threadIdx.x;
    x[t] = 3 * t;                        //! race
    int next = x[(t + 1) % blockDim.x];  //! race
    out[t] = next;
}

int main() {
    int *x, *out;
    cudaMalloc(&x, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    cudaMemset(x, 0, 64 * sizeof(int));
    rotate_kernel<<<1, 64>>>(x, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
