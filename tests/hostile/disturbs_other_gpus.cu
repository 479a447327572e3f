// Cheat: ignores which GPU it may use, and keeps the other GPUs busy, on which other submissions are timed. If it
// can reach more than one, it gives a wrong answer, which the test looks for.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "labs/dot_product/lab.h"

__attribute__((constructor)) static void forget_assigned_gpu() { unsetenv("CUDA_VISIBLE_DEVICES"); }

static int count_nodes() {
    int count = 0;
    for (int number = 0; number < 64; ++number) {
        const int node = open(("/dev/nvidia" + std::to_string(number)).c_str(), O_RDWR);
        count += node >= 0;
        if (node >= 0) close(node);
    }
    return count;
}

static int disturb_others() {
    int count = 0, mine = 0;
    cudaGetDeviceCount(&count);
    cudaGetDevice(&mine);
    for (int device = 0; device < count; ++device) {
        void* memory = nullptr;
        if (device == mine || cudaSetDevice(device) || cudaMalloc(&memory, std::size_t{1} << 30)) continue;
        for (int i = 0; i < 1000; ++i) cudaMemsetAsync(memory, i, std::size_t{1} << 30);
    }
    cudaSetDevice(mine);
    return count;
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    const bool others = count_nodes() > 1 || disturb_others() > 1;
    CUDA_CHECK(cudaMemset(out, others ? 1 : 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
