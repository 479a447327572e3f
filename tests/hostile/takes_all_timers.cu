// Bomb: makes timers until none is left for the user who runs the judge.
#include <signal.h>
#include <time.h>

#include <cstdio>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static int timers = 0;
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGURG;
    timer_t timer;
    if (timers == 0) {
        while (timers < 20000 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) ++timers;
        std::printf("%s\n", timers < 5000 ? "refused" : "REACHED");
        std::fflush(stdout);
    }
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
