// Threads update 8 bytes by one atomic, and 4 of them by another.
#include <cuda_runtime.h>

__global__ void halves_kernel(unsigned long long* pairs) {
    if (threadIdx.x < 32)
        atomicAdd(&pairs[threadIdx.x], 1ull);  //! atomic_race
    else
        atomicAdd(reinterpret_cast<unsigned*>(pairs) + 2 * (threadIdx.x - 32) + 1, 1u);  //! atomic_race
}

__global__ void shared_kernel(unsigned long long* out) {
    __shared__ unsigned long long best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    atomicMax(&best, threadIdx.x + 1ull);                                //! atomic_race
    if (threadIdx.x == 40) atomicAdd(reinterpret_cast<int*>(&best), 0);  //! atomic_race
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = best;
}

__global__ void phases_kernel(unsigned long long* pairs) {  // correct: a barrier is between the two widths
    atomicAdd(&pairs[32], 1ull);
    __syncthreads();
    atomicAdd(reinterpret_cast<unsigned*>(pairs) + 64, 1u);
    atomicAdd(reinterpret_cast<unsigned*>(pairs) + 66, 1u);
}

int main() {
    unsigned long long* pairs;
    cudaMalloc(&pairs, 64 * sizeof *pairs);
    cudaMemset(pairs, 0, 64 * sizeof *pairs);
    halves_kernel<<<1, 64>>>(pairs);
    shared_kernel<<<1, 64>>>(pairs + 40);
    phases_kernel<<<1, 64>>>(pairs);
    return cudaDeviceSynchronize() != cudaSuccess;
}
