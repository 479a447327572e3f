// Cheat: reads beyond the end and races, and changes the kind of each finding, on its way to the judge, to an invalid
// one.
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <thread>

#include "forged_page.h"
#include "labs/dot_product/lab.h"

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    __shared__ int sum, count, last;
    if (threadIdx.x == 0) sum = count = 0;
    __syncthreads();
    if (i < n) atomicAdd(&sum, a[i] * b[i]);
    last = static_cast<const volatile int*>(a)[i + 1];  // beyond the end, and a race
    if (atomicAdd(&count, 1) < 255) return;
    const int total = sum;  // a race
    atomicAdd(out, total);
}

static void alter_findings() {
    int ends[2];
    if (pipe(ends) != 0) return;
    std::thread([from = ends[0], to = dup(5)] {
        static char packet[8192];
        for (;;) {
            if (read(from, packet, 8) != 8) return;
            std::uint32_t kind;
            std::memcpy(&kind, packet, 4);
            const std::size_t bytes = kind == 0x5746494e ? ForgedPage::finding_bytes : 872;  // an Answer
            for (std::size_t got = 0; got < bytes;) {
                const long more = read(from, packet + 8 + got, bytes - got);
                if (more <= 0) return;
                got += static_cast<std::size_t>(more);
            }
            if (kind == 0x5746494e) std::memset(packet + 8, 0x63, 4);
            (void)!write(to, packet, 8 + bytes);
        }
    }).detach();
    dup2(ends[1], 5);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    static bool done = false;
    if (!done) alter_findings();
    done = true;
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
