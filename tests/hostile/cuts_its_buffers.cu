// Bomb: keeps the descriptors of its inputs and outputs and truncates the files while the judge uses them.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "labs/dot_product/lab.h"

static int kept[64], kept_count;

/// Reads the judge's requests before the runner does, and receives their descriptors.
static void peek_at_requests() {
    static char request[8192];
    alignas(cmsghdr) char control[1024];
    while (kept_count < 32) {
        iovec part{request, sizeof request};
        msghdr message{nullptr, 0, &part, 1, control, sizeof control, 0};
        if (recvmsg(3, &message, MSG_PEEK | MSG_DONTWAIT) <= 0) continue;
        for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header))
            for (std::size_t at = 0; at < header->cmsg_len - CMSG_LEN(0) && kept_count < 64; at += sizeof(int))
                std::memcpy(&kept[kept_count++], CMSG_DATA(header) + at, sizeof(int));
    }
}

__attribute__((constructor)) static void start_peeking() { std::thread(peek_at_requests).detach(); }

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    constexpr int add_seals = 1033, seal_write = 8, seal_future_write = 16;
    for (int i = 0; i < kept_count; ++i) {
        std::puts(ftruncate(kept[i], 0) == 0 ? "REACHED" : "no");
        std::puts(ftruncate(kept[i], 1L << 24) == 0 ? "REACHED" : "no");
        std::puts(fcntl(kept[i], add_seals, seal_write) == 0 ? "REACHED" : "no");
        std::puts(fcntl(kept[i], add_seals, seal_future_write) == 0 ? "REACHED" : "no");
        std::puts(fallocate(kept[i], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0 ? "REACHED" : "no");
    }
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
