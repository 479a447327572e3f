// Cheat: leaves behind a process in a session of its own, which waits for the next student's run.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
            prctl(PR_SET_NAME, "@NAME@");
            for (int second = 0; second < 600; ++second) sleep(1);
        }
        _exit(0);
    }
    wait(nullptr);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
