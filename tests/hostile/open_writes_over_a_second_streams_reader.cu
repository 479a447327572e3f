// Open: two streams read a buffer; a third writes it after waiting for only one of them.
#include "labs/dot_product/lab.h"

__global__ void products(const int* a, const int* b, int* to, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (i < n) to[i] = a[i] * b[i];
}
__global__ void sum(const int* from, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (i < n) atomicAdd(out, from[i]);
}
__global__ void look(const int* from, std::size_t n, int* other) {
    const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
    if (i < n) atomicAdd(other, from[i]);
}

std::size_t dot_product_scratch_bytes(std::size_t n) { return (n + 64) * sizeof(int); }

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    int* const other = static_cast<int*>(scratch);
    int* const to = other + 64;
    const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    CUDA_CHECK(cudaMemset(other, 0, sizeof(int)));
    if (n == 0) return;
    cudaStream_t first, second, third;
    cudaEvent_t event;
    for (cudaStream_t* one : {&first, &second, &third}) CUDA_CHECK(cudaStreamCreateWithFlags(one, cudaStreamNonBlocking));
    CUDA_CHECK(cudaEventCreate(&event));
    products<<<blocks, 256>>>(a, b, to, n);
    CUDA_CHECK(cudaDeviceSynchronize());
    sum<<<blocks, 256, 0, first>>>(to, out, n);
    look<<<blocks, 256, 0, second>>>(to, n, other);
    CUDA_CHECK(cudaEventRecord(event, second));
    CUDA_CHECK(cudaStreamWaitEvent(third, event, 0));
    CUDA_CHECK(cudaMemsetAsync(to, 0, n * sizeof(int), third));  // perhaps while sum runs
    CUDA_CHECK(cudaDeviceSynchronize());
    for (cudaStream_t one : {first, second, third}) CUDA_CHECK(cudaStreamDestroy(one));
    CUDA_CHECK(cudaEventDestroy(event));
}
