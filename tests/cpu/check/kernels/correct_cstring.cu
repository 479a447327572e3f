// The functions of <cuda/std/cstring> and <cuda/std/cstdlib> on memory that was written before.
#include <cstdio>
#include <cuda/std/cstdlib>
#include <cuda/std/cstring>

__global__ void kernel(int* wrong) {
    __shared__ unsigned char bytes[64], copy[64];
    bytes[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x > 0) return;
    int bad = cuda::std::memchr(bytes, 40, 64) != bytes + 40;
    bad += cuda::std::memchr(bytes, 64, 64) != nullptr;
    bad += cuda::std::memchr(static_cast<const void*>(bytes), 256 + 7, 1000) != bytes + 7;  // reads eight bytes
    cuda::std::memcpy(copy, bytes, 64);
    cuda::std::memmove(copy + 1, copy, 32);
    bad += cuda::std::memcmp(copy + 1, bytes, 32) != 0;
    cuda::std::memset(copy, 0, 64);
    int* const values = static_cast<int*>(cuda::std::calloc(16, sizeof(int)));
    for (int i = 0; i < 16; ++i) bad += values[i] != 0;
    bad += cuda::std::calloc(~size_t{0} / 2, 4) != nullptr;
    cuda::std::free(values);
    bad += cuda::std::div(17, 5).rem != 2;
    *wrong = bad;
}

int main() {
    int *device, wrong = 1;
    cudaMalloc(&device, sizeof(int));
    kernel<<<1, 64>>>(device);
    cudaMemcpy(&wrong, device, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(device);
    std::puts(wrong == 0 ? "ok" : "wrong");
}
