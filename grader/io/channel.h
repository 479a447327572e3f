#pragma once
// Sends and receives protocol packets with their file descriptors. Header-only: the runner is built without our
// libraries.

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace warplab::protocol {

inline constexpr int max_descriptors = 24;

/// Sends one packet; false when the other end is gone or its queue stays full.
template <class Packet>
bool send_packet(int channel, const Packet& packet, const int* descriptors = nullptr, int count = 0) {
    iovec part{const_cast<Packet*>(&packet), sizeof packet};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * max_descriptors)] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (count > 0) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * static_cast<std::size_t>(count));
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * static_cast<std::size_t>(count));
        std::memcpy(CMSG_DATA(header), descriptors, sizeof(int) * static_cast<std::size_t>(count));
    }
    ssize_t sent;
    do sent = sendmsg(channel, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(sizeof packet);
}

enum class Received { packet, closed, malformed, nothing };

/// Receives one packet and up to `room` descriptors. A packet of another size is `malformed` and none of it is used;
/// descriptors nobody asked for are closed.
template <class Packet>
Received receive_packet(int channel, Packet& packet, int* descriptors, int room, int& count, int flags = 0) {
    iovec part{&packet, sizeof packet};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * max_descriptors)];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    count = 0;
    ssize_t got;
    do got = recvmsg(channel, &message, flags | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Received::nothing : Received::closed;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t total = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < total; ++i) {
            int descriptor;
            std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
            if (count < room)
                descriptors[count++] = descriptor;
            else
                close(descriptor);
        }
    }
    if (got == 0) return Received::closed;
    if (got != static_cast<ssize_t>(sizeof packet) || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
        return Received::malformed;
    return Received::packet;
}

}  // namespace warplab::protocol
