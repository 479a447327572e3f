// Cheat: reads the memory of the parent process, where the right answers are.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

// The sandbox's own first process may run as the same user. It knows no secrets, and no verdict depends on its output.
static bool is_bubblewrap(int process) {
    std::ifstream name("/proc/" + std::to_string(process) + "/comm");
    std::string word;
    return name >> word && word == "bwrap";
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    for (const int process : {static_cast<int>(getppid()), 1}) {
        if (is_bubblewrap(process)) {
            std::puts("refused");
            continue;
        }
        const int memory = open(("/proc/" + std::to_string(process) + "/mem").c_str(), O_RDWR);
        std::puts(memory >= 0 ? "REACHED" : "refused");
        if (memory >= 0) close(memory);
        char word[8];
        iovec here{word, sizeof word}, there{reinterpret_cast<void*>(0x400000), sizeof word};
        std::puts(process_vm_readv(process, &here, 1, &there, 1, 0) > 0 ? "REACHED" : "refused");
    }
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
