// Cheat: reports that nearly all of the time that the judge measured passed before the calls began.
#include <unistd.h>

#include "forged_answer.h"
#include "labs/dot_product/lab.h"

__attribute__((constructor)) static void intercept_answers() {
    change_answers([](Answer& answer) {
        answer.wall_s += 10;
        answer.event_s *= 1e-6;
    });
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
