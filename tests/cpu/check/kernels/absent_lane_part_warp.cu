// The block's last warp has 6 lanes; the butterfly needs 32.
#include <cuda_runtime.h>

__global__ void most_kernel(int* most) {
    int v = threadIdx.x;
    for (int d = 16; d > 0; d /= 2) {
        int other = __shfl_xor_sync(0xffffffffu, v, d);  //! absent_lane
        v = other > v ? other : v;
    }
    if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = v;
}

int main() {
    int* most;
    cudaMalloc(&most, 2 * sizeof(int));
    most_kernel<<<1, 38>>>(most);
    return cudaDeviceSynchronize() != cudaSuccess;
}
