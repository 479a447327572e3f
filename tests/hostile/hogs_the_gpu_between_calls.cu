// Cheat: a thread keeps the GPU busy all the time, also while the reference is timed.
#include <unistd.h>

#include <thread>

#include "labs/dot_product/lab.h"

__global__ void wait_kernel(long long cycles) {
    for (const long long begin = clock64(); clock64() - begin < cycles;) {
    }
}

static void keep_busy() {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (;;) {
        wait_kernel<<<4096, 256, 0, stream>>>(20000000);
        usleep(1000);
    }
}

void dot_product_prepare(std::size_t) {
    static bool begun = false;
    if (!begun) std::thread(keep_busy).detach();
    begun = true;
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    if (n > (1u << 20)) usleep(200000);  // slower than the CPU
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
