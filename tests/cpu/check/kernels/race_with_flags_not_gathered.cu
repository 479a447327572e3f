// Like correct_gathered_flags.cu, but the last flag is set before the flags of 200 blocks have been read.
#include <cstdio>

constexpr int workers = 400;
__device__ unsigned ticket;
__device__ int ready[workers], all_ready;

__global__ void gather_kernel(int* values, int* sum) {
    __shared__ int me;
    if (threadIdx.x == 0) me = atomicAdd(&ticket, 1);
    __syncthreads();
    if (me < workers) {
        if (threadIdx.x > 0) return;
        values[me] = me;  //! race
        __threadfence();
        atomicExch(&ready[me], 1);
    } else if (me == workers) {
        for (int i = threadIdx.x; i < workers / 2; i += blockDim.x)
            while (atomicAdd(&ready[i], 0) == 0) {
            }
        __threadfence();
        __syncthreads();
        if (threadIdx.x > 0) return;
        __threadfence();
        atomicExch(&all_ready, 1);
    } else {
        if (threadIdx.x == 0) {
            while (atomicAdd(&all_ready, 0) == 0) {
            }
            __threadfence();
        }
        __syncthreads();
        for (int i = threadIdx.x; i < workers; i += blockDim.x) atomicAdd(sum, values[i]);  //! race
    }
}

int main() {
    int *values, *sum, result = 0;
    cudaMalloc(&values, workers * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    gather_kernel<<<workers + 2, 32>>>(values, sum);
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(values);
    cudaFree(sum);
    std::puts(result == workers * (workers - 1) / 2 ? "ok" : "wrong");
}
