// Two blocks load a word that nobody writes: loads order nothing.
#include <cuda/atomic>

__device__ cuda::atomic<int, cuda::thread_scope_device> stop(0);
__device__ unsigned visited;

__global__ void visit_kernel() {
    if (threadIdx.x > 0 || stop.load()) return;
    visited = visited + 1;  //! race
    __threadfence();
    if (stop.load()) visited = 0;
}

int main() {
    visit_kernel<<<8, 32>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
