// Each block takes its ticket before it adds. The fence before the ticket does not order the sums: other blocks may
// still add to them when the last block takes its ticket.
#include <cuda_runtime.h>

__device__ unsigned tickets, wide_tickets, arrived;
__device__ int total, in_two_steps;
__device__ unsigned long long wide_total;

__global__ void total_kernel(int* out) {
    if (threadIdx.x > 0) return;
    __threadfence();
    if (atomicAdd(&tickets, 1) < gridDim.x - 1) {
        atomicAdd(&total, 1);  //! atomic_race
    } else {
        *out = atomicAdd(&tickets, 0);
        total = 0;  //! atomic_race
    }
}

__global__ void wide_kernel() {
    if (threadIdx.x > 0) return;
    __threadfence();
    if (atomicAdd(&wide_tickets, 1) < gridDim.x - 1)
        atomicAdd(&wide_total, 1ull);  //! atomic_race
    else
        wide_total = 0;  //! atomic_race
}

// The fence is before the sum, and not between the sum and the counter.
__global__ void gather_kernel() {
    if (threadIdx.x > 0) return;
    __threadfence();
    if (blockIdx.x > 0) {
        atomicAdd(&in_two_steps, 1);  //! atomic_race
        atomicAdd(&arrived, 1);
        return;
    }
    while (atomicAdd(&arrived, 0) < gridDim.x - 1) {
    }
    __threadfence();
    in_two_steps = 0;  //! atomic_race
}

__global__ void block_kernel(int* out) {
    __shared__ int sum, count;
    if (threadIdx.x == 0) sum = count = 0;
    __syncthreads();
    __threadfence_block();
    if (atomicAdd(&count, 1) < blockDim.x - 1) {
        atomicAdd(&sum, 1);  //! atomic_race
    } else {
        __threadfence_block();
        out[blockIdx.x] = sum;  //! atomic_race
    }
}

int main() {
    int* out;
    cudaMalloc(&out, 8 * sizeof(int));
    total_kernel<<<8, 32>>>(out);
    wide_kernel<<<8, 32>>>();
    void* none[] = {nullptr};
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(gather_kernel), 8, 32, none, 0, nullptr);
    block_kernel<<<8, 64>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
