// Cheat: connects to a port of this machine, to a system socket and to a name server.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "labs/dot_product/lab.h"

template <class Address>
static void reach(int family, int kind, const Address& address) {
    const int line = socket(family, kind, 0);
    const bool sent = line >= 0 && connect(line, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                      send(line, "hello", 5, MSG_NOSIGNAL) == 5;
    std::puts(sent ? "REACHED" : "refused");
    if (line >= 0) close(line);
}

__global__ void dot_product_kernel(const int* a, const int* b, int* out, std::size_t n) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, a[i] * b[i]);
}

void dot_product(const int* a, const int* b, int* out, std::size_t n, void*) {
    const std::uint16_t port = htons(static_cast<std::uint16_t>(std::atoi("@PORT@")));
    reach(AF_INET, SOCK_STREAM, sockaddr_in{AF_INET, port, {htonl(INADDR_LOOPBACK)}, {}});
    reach(AF_INET, SOCK_DGRAM, sockaddr_in{AF_INET, htons(53), {htonl(0x08080808)}, {}});
    reach(AF_UNIX, SOCK_STREAM, sockaddr_un{AF_UNIX, "/run/systemd/private"});
    reach(AF_UNIX, SOCK_STREAM, sockaddr_un{AF_UNIX, "/run/dbus/system_bus_socket"});
    CUDA_CHECK(cudaMemset(out, 0, sizeof(int)));
    if (n) dot_product_kernel<<<static_cast<unsigned>((n + 255) / 256), 256>>>(a, b, out, n);
}
