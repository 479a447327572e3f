// Open: asks whether a stream's work is complete, ignores the answer, and a kernel of another stream uses the results.
// Work is always complete on the CPU backend, so each query seems to say so.
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}
__global__ void add_kernel(int* out, int more) { *out += more; }

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static const int nothing = 0;
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    CUDA_CHECK(cudaDeviceSynchronize());
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(a, b, out, n);
    (void)cudaStreamQuery(stream);
    add_kernel<<<1, 1>>>(out, nothing);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaStreamDestroy(stream));
}
