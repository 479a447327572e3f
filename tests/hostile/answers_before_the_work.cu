// Cheat: a thread answers at once, before the work is done, and the runner's own answers are discarded.
#include <fcntl.h>
#include <unistd.h>

#include <thread>

#include "forged_answer.h"
#include "labs/dot_product/lab.h"

static void answer_early() {
    static const int answers = dup(5);
    dup2(open("/dev/null", O_WRONLY), 5);
    const Answer answer;
    (void)!write(answers, &answer, sizeof answer);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    if (n > (1u << 20)) std::thread(answer_early).join();
    usleep(200000);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
