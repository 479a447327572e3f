// Cheat: sends descriptors, files and the request socket itself over the request socket.
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "labs/dot_product/lab.h"

static void give(int descriptor) {
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
    mmsghdr message{};
    message.msg_hdr = {nullptr, 0, &part, 1, control, sizeof control, 0};
    cmsghdr* const header = CMSG_FIRSTHDR(&message.msg_hdr);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    std::puts(sendmsg(3, &message.msg_hdr, MSG_DONTWAIT) > 0 ? "REACHED" : "refused");
    std::puts(sendmmsg(3, &message, 1, MSG_DONTWAIT) > 0 ? "REACHED" : "refused");
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    for (const int descriptor : {0, 3, 4, 5}) give(descriptor);
    std::puts(write(3, "x", 1) == 1 ? "REACHED" : "refused");
    std::puts(send(3, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 ? "REACHED" : "refused");
    std::puts(sendfile(3, 4, nullptr, 4096) > 0 ? "REACHED" : "refused");
    std::puts(shutdown(3, SHUT_RDWR) == 0 ? "REACHED" : "refused");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
