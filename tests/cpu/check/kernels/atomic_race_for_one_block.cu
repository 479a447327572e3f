// Several blocks update a total and a maximum by atomics whose scope is one block.
#include <cuda_runtime.h>

#include <cuda/atomic>

__global__ void sum_kernel(const int* x, int* total, int* largest) {
    const int value = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd_block(total, value);  //! atomic_race
    cuda::atomic_ref<int, cuda::thread_scope_block> most(*largest);
    most.fetch_max(value, cuda::memory_order_relaxed);  //! atomic_race
}

int main() {
    int *x, *totals;
    cudaMalloc(&x, 512 * sizeof(int));
    cudaMalloc(&totals, 2 * sizeof(int));
    cudaMemset(x, 0, 512 * sizeof(int));
    cudaMemset(totals, 0, 2 * sizeof(int));
    sum_kernel<<<4, 128>>>(x, totals, totals + 1);
    return cudaDeviceSynchronize() != cudaSuccess;
}
