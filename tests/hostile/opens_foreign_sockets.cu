// Cheat: opens sockets of every family: the host of a virtual machine, the kernel's own protocols, other processes.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>

#include "labs/dot_product/lab.h"

static void open_socket(int family, int kind, int protocol) {
    const int line = socket(family, kind, protocol);
    std::puts(line < 0 ? "refused" : "REACHED");
    if (line >= 0) close(line);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    for (int family = 0; family < AF_MAX; ++family)
        for (const int kind : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET})
            if (family != AF_UNIX || kind != SOCK_SEQPACKET)  // the GPU's driver creates this kind
                for (const int protocol : {0, 4, 6, 12, 15, 16}) open_socket(family, kind, protocol);
    int ends[2];
    for (const int kind : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET})
        std::puts(socketpair(AF_UNIX, kind, 0, ends) != 0 ? "refused" : "REACHED");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
