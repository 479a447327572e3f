// Open: a second host thread writes device memory while a kernel waits. While a grid runs, hooks ignore other host
// threads.
#include <atomic>
#include <thread>

#include "labs/dot_product/lab.h"

__global__ void wait_kernel(const volatile int* flag) { while (*flag == 0) {} }
__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void* scratch) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    CUDA_CHECK(cudaMemset(scratch, 0, sizeof(int)));
    int* const flag = static_cast<int*>(scratch);
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
    std::thread other([flag] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        *flag = 1;
    });
    wait_kernel<<<1, 1>>>(flag);
    other.join();
}
std::size_t dot_product_scratch_bytes(std::size_t) { return 64; }
