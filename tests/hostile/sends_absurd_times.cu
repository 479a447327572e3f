// Cheat: sends times that are NaN, negative or infinite.
#include <unistd.h>

#include <limits>

#include "forged_answer.h"
#include "labs/dot_product/lab.h"

static std::size_t last_n = 0;

__attribute__((constructor)) static void intercept_answers() {
    change_answers([](Answer& answer) {
        constexpr double absurd[] = {std::numeric_limits<double>::quiet_NaN(), -1, -0.5e-300,
                                     std::numeric_limits<double>::infinity()};
        if (answer.ask == 4) (last_n % 2 ? answer.event_s : answer.wall_s) = absurd[last_n / 2 % 4];
    });
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    last_n = n;
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
