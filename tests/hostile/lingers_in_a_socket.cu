// Bomb: passes the judge a TCP connection whose peer can delay the close as long as it likes.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "labs/dot_product/lab.h"

static int connect_to_itself() {
    sockaddr_in address{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {}};
    socklen_t bytes = sizeof address;
    auto* const where = reinterpret_cast<sockaddr*>(&address);
    const int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(server, where, bytes) || listen(server, 1) || getsockname(server, where, &bytes)) return -1;
    if (connect(client, where, bytes)) return -1;
    static char block[1 << 16];
    while (send(client, block, sizeof block, MSG_DONTWAIT) > 0) {
    }
    const linger hours{1, 30000};
    return setsockopt(client, SOL_SOCKET, SO_LINGER, &hours, sizeof hours) == 0 ? client : -1;
}

static bool give(int to, int descriptor) {
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(to, &message, MSG_DONTWAIT) > 0;
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    const int connection = connect_to_itself();
    std::puts(connection >= 0 ? "REACHED" : "refused");
    for (const int to : {3, 4, 5}) std::puts(give(to, connection >= 0 ? connection : 0) ? "REACHED" : "refused");
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
