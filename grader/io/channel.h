#pragma once
// Carries protocol packets. Requests and their descriptors go to the runner over a socket on which the runner cannot
// send; answers and findings come back over a pipe, which cannot carry descriptors. Reading from it and closing it
// never block the judge, no matter what the runner does. Header-only, because the runner is built without the grader's
// libraries.

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "grader/io/protocol.h"
#include "grader/io/status_page.h"

namespace warplab::protocol {

inline constexpr int max_descriptors = 24;

enum class SendResult { whole, refused, closed };  // refused: the queue is full, so the runner no longer reads

/// Send one request without waiting.
inline SendResult send_request(int socket, const Request& request, const int* descriptors = nullptr, int count = 0) {
    iovec part{const_cast<Request*>(&request), sizeof request};
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
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent == static_cast<ssize_t>(sizeof request)) return SendResult::whole;
    return sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) ? SendResult::refused
                                                                                     : SendResult::closed;
}

/// Wait for a request and up to max_descriptors descriptors, which the caller closes. Return false if the judge has
/// ended or sent something else.
inline bool receive_request(int socket, Request& request, int* descriptors, int& count) {
    iovec part{&request, sizeof request};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * max_descriptors)];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    count = 0;
    ssize_t received;
    do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    for (cmsghdr* header = received > 0 ? CMSG_FIRSTHDR(&message) : nullptr; header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        const auto bytes = header->cmsg_len - CMSG_LEN(0);
        std::memcpy(descriptors + count, CMSG_DATA(header), bytes);
        count += static_cast<int>(bytes / sizeof(int));
    }
    return received == static_cast<ssize_t>(sizeof request) && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
}

/// The first field of each packet; the Answer or RawFinding follows in the same write.
enum class PacketKind : std::uint32_t { answer = 0x57414e53, finding = 0x5746494e };

template <class Content>
struct Packet {
    PacketKind kind;
    std::uint32_t reserved = 0;  // keeps the content aligned to 8 bytes
    Content content;
};
static_assert(sizeof(Packet<Answer>) <= PIPE_BUF && sizeof(Packet<RawFinding>) <= PIPE_BUF, "a write is atomic");

/// Make the write system call directly: a submission can define a function called write.
inline long write_directly(int file, const void* bytes, std::size_t count) {
#if defined(__x86_64__)
    long result;
    asm volatile("syscall"
                 : "=a"(result)
                 : "0"(static_cast<long>(SYS_write)), "D"(static_cast<long>(file)), "S"(bytes), "d"(count)
                 : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long number asm("x8") = SYS_write;
    register long result asm("x0") = file;
    register const void* from asm("x1") = bytes;
    register std::size_t length asm("x2") = count;
    asm volatile("svc 0" : "+r"(result) : "r"(number), "r"(from), "r"(length) : "memory");
    return result;
#else
    return write(file, bytes, count);
#endif
}

/// Write one packet, and wait while the pipe is full. Return false if the judge has ended or the descriptor is no
/// longer the pipe.
template <class Content>
bool send_packet(int pipe, PacketKind kind, const Content& content) {
    const Packet<Content> packet{kind, 0, content};
    long written;
    do written = write_directly(pipe, &packet, sizeof packet);
    while (written == -EINTR);
    return written == static_cast<long>(sizeof packet);
}

}  // namespace warplab::protocol
