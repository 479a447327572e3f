// Lanes without work use the mask of the lanes with work.
#include <cuda_runtime.h>

__global__ void vote_kernel(const int* in, unsigned* out, int n) {
    unsigned with_work = __ballot_sync(0xffffffff, threadIdx.x < n);
    unsigned odd = __ballot_sync(with_work, in[threadIdx.x] & 1);  //! lane_mask
    if (threadIdx.x == 0) *out = odd;
}

int main() {
    int* in;
    unsigned* out;
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, sizeof(unsigned));
    cudaMemset(in, 0, 32 * sizeof(int));
    vote_kernel<<<1, 32>>>(in, out, 20);
    return cudaDeviceSynchronize() != cudaSuccess;
}
