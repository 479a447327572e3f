// Blocks of 16 x 16 threads on a sheet of 4096 columns, so that a warp covers two rows of 64 bytes.

#include "labs/vector_add/lab.h"

constexpr unsigned side = 16, columns = 4096;

__global__ void vector_add_kernel(const float* a, const float* b, float* out, std::size_t n) {
    const std::size_t row = std::size_t{blockIdx.x} * side + threadIdx.y;
    const std::size_t i = row * columns + blockIdx.y * side + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* out, std::size_t n, void* /*scratch*/) {
    if (n == 0) return;  // a grid without blocks is an error
    const std::size_t rows = (n + columns - 1) / columns;
    const dim3 grid(static_cast<unsigned>((rows + side - 1) / side), columns / side);
    vector_add_kernel<<<grid, dim3(side, side)>>>(a, b, out, n);
    CUDA_CHECK(cudaGetLastError());  // a launch returns no value: ask whether it was accepted
}

// The same for data on the host: allocate, copy in, compute, copy back, free.
void vector_add_host(const float* a, const float* b, float* out, std::size_t n) {
    if (n == 0) return;
    const std::size_t bytes = n * sizeof(float);
    float *device_a, *device_b, *device_out;
    CUDA_CHECK(cudaMalloc(&device_a, bytes));
    CUDA_CHECK(cudaMalloc(&device_b, bytes));
    CUDA_CHECK(cudaMalloc(&device_out, bytes));
    CUDA_CHECK(cudaMemcpy(device_a, a, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_b, b, bytes, cudaMemcpyHostToDevice));
    vector_add(device_a, device_b, device_out, n, nullptr);
    CUDA_CHECK(cudaMemcpy(out, device_out, bytes, cudaMemcpyDeviceToHost));  // waits until the kernel is done
    CUDA_CHECK(cudaFree(device_a));
    CUDA_CHECK(cudaFree(device_b));
    CUDA_CHECK(cudaFree(device_out));
}
