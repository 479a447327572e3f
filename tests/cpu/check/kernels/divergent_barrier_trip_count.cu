// Odd threads run the loop once more, so they wait at its barrier while the others wait at a later one.
#include <cuda_runtime.h>

__global__ void rounds_kernel(int* out) {
    int rounds = threadIdx.x % 2 == 0 ? 1 : 2;
    for (int k = 0; k < rounds; k++) {
        out[threadIdx.x] = k;
        __syncthreads();  //! divergent_barrier
    }
    if (rounds == 1) {
        __syncthreads();  //! divergent_barrier
    }
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    rounds_kernel<<<1, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
