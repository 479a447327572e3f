// The CUDA Programming Guide's example of a sum, without its __threadfence(): the last block may read old parts,
// although they are volatile.
#include <cuda_runtime.h>

__device__ unsigned finished;

__global__ void sum_kernel(volatile float* parts) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = blockIdx.x + 1.0f;  //! race
        last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x > 0) return;
    float sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];  //! race
    parts[0] = sum;
    finished = 0;
}

int main() {
    float* parts;
    cudaMalloc(&parts, 8 * sizeof(float));
    for (int i = 0; i < 2; ++i) sum_kernel<<<8, 64>>>(parts);
    const bool failed = cudaDeviceSynchronize() != cudaSuccess;
    cudaFree(parts);
    return failed;
}
