// Cheat: answers commands without calls late, which the judge may take for the way of a message, and forges all times.
#include <unistd.h>

#include <cstdint>
#include <thread>

#include "labs/dot_product/lab.h"

struct Answer {  // as in grader/io/protocol.h and channel.h
    std::uint32_t kind, reserved, magic, version, ask, ok;
    std::int32_t cuda_error;
    std::uint32_t has_host;
    std::uint64_t scratch_bytes;
    double event_s, wall_s;
    std::uint64_t host_bytes, launches;
    std::int64_t leaked_bytes;
    unsigned char observed[272];
    char message[512];
    std::uint64_t seal;  // whose key it does not know
};

/// Passes the runner's answers on, changed.
static void pass_on(int from, int to) {
    for (Answer answer; read(from, &answer, sizeof answer) == sizeof answer;) {
        if (answer.ask == 4 && answer.launches == 0) usleep(1500000);
        answer.event_s = answer.wall_s = 1e-4 * static_cast<double>(answer.launches);
        (void)!write(to, &answer, sizeof answer);
    }
}

__attribute__((constructor)) static void come_between() {
    int ends[2];
    if (pipe(ends) != 0) return;
    std::thread(pass_on, ends[0], dup(5)).detach();
    dup2(ends[1], 5);
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
