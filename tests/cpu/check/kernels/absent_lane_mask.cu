// The mask names the lanes that call, but not lane 8, from which lane 7 reads.
#include <cuda_runtime.h>

__global__ void neighbour_kernel(int* out) {
    unsigned lane = threadIdx.x, mask = __ballot_sync(0xffffffffu, lane < 8);
    if (lane >= 8) return;
    out[lane] = __shfl_sync(mask, lane, lane + 1);  //! absent_lane
}

int main() {
    int* out;
    cudaMalloc(&out, 8 * sizeof(int));
    neighbour_kernel<<<1, 32>>>(out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
