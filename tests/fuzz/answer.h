#pragma once
// The channel between judge and runner, with any packets in it.

#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>

#include "grader/io/channel.h"
#include "grader/judge/answer.h"
#include "grader/judge/ending.h"
#include "tests/fuzz/bytes.h"

namespace warplab::fuzz {

struct Channel {
    int judge = -1, runner = -1;
    Channel() {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) judge = ends[0], runner = ends[1];
    }
    Channel(const Channel&) = delete;
    ~Channel() {
        close(judge);
        close(runner);
    }
};

inline int next_free_descriptor() {
    const int next = dup(0);
    close(next);
    return next;
}

inline protocol::Answer well_formed(protocol::Ask ask) {
    protocol::Answer answer{};
    answer.magic = protocol::magic;
    answer.version = protocol::version;
    answer.ask = ask;
    return answer;
}

/// Sends one packet as the input says: one byte of what it is (bits 0 and 1: any bytes, a finding, an answer, one that
/// is well-formed so far), with a descriptor (bit 2) and how often more (the rest), two of the length, then the bytes.
/// False when the queue is full.
inline bool send_one(int channel, protocol::Ask asked, Bytes& input) {
    const auto head = input.take<std::uint8_t>();
    const std::string_view bytes = input.text(input.take<std::uint16_t>());
    const auto filled = [&](auto packet) {
        Bytes(bytes).read(packet);
        return std::string(reinterpret_cast<const char*>(&packet), sizeof packet);
    };
    std::string packet(bytes);
    if ((head & 3) == 1) packet = filled(Finding{});
    if ((head & 3) == 2) packet = filled(protocol::Answer{});
    if ((head & 3) == 3) {
        packet = filled(protocol::Answer{});
        const protocol::Answer header = well_formed(asked);
        packet.replace(0, offsetof(protocol::Answer, ok), reinterpret_cast<const char*>(&header),
                       offsetof(protocol::Answer, ok));
    }
    iovec part{packet.data(), packet.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (head & 4) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* descriptor = CMSG_FIRSTHDR(&message);
        *descriptor = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        std::memcpy(CMSG_DATA(descriptor), &channel, sizeof channel);
    }
    for (int times = 1 + (head >> 3); times > 0; --times)
        if (sendmsg(channel, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return false;
    return true;
}

/// The first byte says what was asked; the packets follow.
inline void try_answer(std::string_view bytes) {
    Bytes input(bytes);
    const Channel channel;
    const auto asked = static_cast<protocol::Ask>(1 + input.take<std::uint8_t>() % 5);
    while (!input.empty() && send_one(channel.runner, asked, input)) {
    }
    const int descriptor = next_free_descriptor();
    std::vector<Finding> findings;
    protocol::Answer answer{};
    const Heard heard = take_answer(channel.judge, asked, findings, answer);
    require(findings.size() <= most_findings, "no more findings than check mode makes");
    require(next_free_descriptor() == descriptor, "descriptors nobody asked for are closed");
    if (heard == Heard::nothing) {
        char byte;
        require(recv(channel.judge, &byte, 1, MSG_DONTWAIT) < 0, "what lies in the channel is taken");
    }
    if (heard != Heard::answer) return;
    require(answer.magic == protocol::magic && answer.version == protocol::version && answer.ask == asked,
            "an answer is one to the question");
    require(std::isfinite(answer.event_s) && answer.event_s >= 0, "event_s is a time");
    require(std::isfinite(answer.wall_s) && answer.wall_s >= 0, "wall_s is a time");
    const Failure failure = explain_refusal(answer, StatusPage{});
    require(failure.message.size() < 1000, "a refusal is short");
}

}  // namespace warplab::fuzz
