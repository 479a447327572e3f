// Honest: kernels call functions of the C library that GPUs have, and the host calls others.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/std/cstring>
#include <string>

#include "labs/dot_product/lab.h"

__device__ char text[16];

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i == 0) {
        cuda::std::strncpy(text, "text", sizeof text);
        if (cuda::std::strlen(text) == 4 && cuda::std::strcmp(text, "text") == 0) printf("%s, %.2f%%\n", text, 1.5);
        printf("%s\n", text);
    }
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

static int compare(const void* left, const void* right) {
    return *static_cast<const int*>(left) - *static_cast<const int*>(right);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    int values[] = {3, 1, 2}, value = 0;
    qsort(values, 3, sizeof values[0], compare);
    char buffer[16];
    snprintf(buffer, sizeof buffer, "%d", values[0] - 1);
    if (sscanf(buffer, "%d", &value) != 1 || std::strtol(buffer, nullptr, 10) != 0 || strnlen(buffer, 16) != 1) return;
    CUDA_CHECK(cudaMemset(out, std::stoi(buffer) + value, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
