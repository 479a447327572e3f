// Bomb: peeks at requests without receiving them, so that the judge's send queue never empties.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "labs/dot_product/lab.h"

extern "C" ssize_t recvmsg(int socket, msghdr* message, int flags) {
    return syscall(SYS_recvmsg, socket, message, flags | MSG_PEEK);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
