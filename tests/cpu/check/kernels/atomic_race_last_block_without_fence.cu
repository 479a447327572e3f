// The last block resets totals to which all blocks add. Without a fence before the ticket, the last block's atomics do
// not order those of the other blocks.
#include <cuda_runtime.h>

#include <cuda/atomic>

__device__ unsigned tickets, blocks_done, relaxed_tickets;
__device__ int total, bins[32], greatest;

__global__ void total_kernel(int* out) {
    if (threadIdx.x > 0) return;
    atomicAdd(&total, 1);  //! atomic_race
    if (atomicAdd(&tickets, 1) == gridDim.x - 1) {
        *out = atomicAdd(&total, 0);
        total = 0;  //! atomic_race
    }
}

__global__ void bins_kernel() {
    __shared__ bool last;
    atomicAdd(&bins[threadIdx.x], 1);  //! atomic_race
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&blocks_done, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) bins[31 - threadIdx.x] = 5;  //! atomic_race
}

__global__ void relaxed_kernel() {
    if (threadIdx.x > 0) return;
    atomicMax(&greatest, int(blockIdx.x));  //! atomic_race
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> ticket(relaxed_tickets);
    if (ticket.fetch_add(1, cuda::memory_order_relaxed) == gridDim.x - 1) greatest = -1;  //! atomic_race
}

__global__ void block_kernel(int* out) {
    __shared__ int most, arrived;
    if (threadIdx.x == 0) most = arrived = 0;
    __syncthreads();
    atomicMax(&most, int(threadIdx.x));                                    //! atomic_race
    if (atomicAdd(&arrived, 1) == blockDim.x - 1) out[blockIdx.x] = most;  //! atomic_race
}

int main() {
    int* out;
    cudaMalloc(&out, 8 * sizeof(int));
    total_kernel<<<8, 32>>>(out);
    bins_kernel<<<8, 32>>>();
    relaxed_kernel<<<8, 32>>>();
    block_kernel<<<8, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
