#pragma once
// The pipe on which a runner answers, with any bytes in it.

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>

#include "grader/io/channel.h"
#include "grader/judge/answer.h"
#include "grader/judge/ending.h"
#include "tests/fuzz/bytes.h"

namespace warplab::fuzz {

struct Pipe {
    int judge = -1, runner = -1;
    Pipe() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) judge = ends[0], runner = ends[1];
    }
    Pipe(const Pipe&) = delete;
    ~Pipe() {
        close(judge);
        close(runner);
    }
};

inline protocol::Answer well_formed(protocol::Ask ask) {
    protocol::Answer answer{};
    answer.magic = protocol::magic;
    answer.version = protocol::version;
    answer.ask = ask;
    return answer;
}

/// Writes as the input says: one byte of what (bits 0 and 1: any bytes, a finding, an answer, one that is well-formed
/// so far) and how often more (the rest), two of the length, then the bytes. False when the pipe is full.
inline bool write_one(int pipe, protocol::Ask asked, Bytes& input) {
    const auto head = input.take<std::uint8_t>();
    const std::string_view bytes = input.text(input.take<std::uint16_t>());
    const auto filled = [&](auto content, protocol::PacketKind kind, std::size_t keep = 0) {
        const auto before = content;
        Bytes(bytes).read(content);
        std::memcpy(static_cast<void*>(&content), &before, keep);
        const protocol::Packet<decltype(content)> packet{kind, 0, content};
        return std::string(reinterpret_cast<const char*>(&packet), sizeof packet);
    };
    std::string packet(bytes);
    if ((head & 3) == 1) packet = filled(Finding{}, protocol::PacketKind::finding);
    if ((head & 3) == 2) packet = filled(protocol::Answer{}, protocol::PacketKind::answer);
    if ((head & 3) == 3)
        packet = filled(well_formed(asked), protocol::PacketKind::answer, offsetof(protocol::Answer, ok));
    for (int times = 1 + (head >> 3); times > 0; --times)
        if (write(pipe, packet.data(), packet.size()) != static_cast<ssize_t>(packet.size())) return false;
    return true;
}

/// The first byte says what was asked; the packets follow.
inline void try_answer(std::string_view bytes) {
    Bytes input(bytes);
    const Pipe pipe;
    const auto asked = static_cast<protocol::Ask>(1 + input.take<std::uint8_t>() % 5);
    while (!input.empty() && write_one(pipe.runner, asked, input)) {
    }
    Inbox inbox;
    const Inbox::Read read = inbox.read(pipe.judge, asked);
    require(inbox.findings().size() <= most_findings, "no more findings than check mode makes");
    if (read != Inbox::Read::answer) return;
    const protocol::Answer& answer = inbox.answer();
    require(answer.magic == protocol::magic && answer.version == protocol::version && answer.ask == asked,
            "an answer is one to the question");
    require(std::isfinite(answer.event_s) && answer.event_s >= 0, "event_s is a time");
    require(std::isfinite(answer.wall_s) && answer.wall_s >= 0, "wall_s is a time");
    const Failure failure = explain_refusal(answer, StatusPage{});
    require(failure.message.size() < 1000, "a refusal is short");
}

}  // namespace warplab::fuzz
