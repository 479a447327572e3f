// Cheat: reads beyond the end in a child process, whose findings are discarded; the parent launches an empty kernel.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int last = static_cast<const volatile int*>(a)[i + 1];  // i + 1 can be n
    if (i < n) atomicAdd(out, a[i] * b[i] + 0 * last);
}

__global__ void idle() {}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    const int child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_WRONLY), 5);
        if (cudaMemset(out, 0, sizeof(int)) == cudaSuccess && n)
            dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
        _exit(0);
    }
    if (n) idle<<<static_cast<unsigned>((n + 255) / 256), 256>>>();
    waitpid(child, nullptr, 0);
}
