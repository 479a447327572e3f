// cuda::std::memchr() looks beyond the end of its array.
#include <cuda/std/cstring>

__global__ void shared_kernel(int* found) {
    __shared__ unsigned char bytes[100];
    for (int i = threadIdx.x; i < 100; i += blockDim.x) bytes[i] = 2;
    __syncthreads();
    if (threadIdx.x == 0) *found = cuda::std::memchr(bytes, 1, 120) != nullptr;  //! out_of_bounds
}

__global__ void device_kernel(const char* text, int* found) {
    *found = cuda::std::memchr(text, 1, 101) != nullptr;  //! out_of_bounds
}

int main() {
    char* text;
    int* found;
    cudaMalloc(&text, 100);
    cudaMalloc(&found, sizeof(int));
    cudaMemset(text, 0, 100);
    shared_kernel<<<1, 32>>>(found);
    device_kernel<<<1, 1>>>(text, found);
    return cudaDeviceSynchronize() != cudaSuccess;
}
