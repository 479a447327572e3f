#pragma once
// Fuzzes the pipe on which a runner answers.

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>

#include "grader/io/channel.h"
#include "grader/judge/run/ending.h"
#include "grader/judge/run/inbox.h"
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

inline protocol::Answer make_well_formed_answer(protocol::Ask ask) {
    protocol::Answer answer{};
    answer.magic = protocol::magic;
    answer.version = protocol::version;
    answer.ask = ask;
    return answer;
}

/// Make packets from the input: one byte with the kind (bits 0 and 1: arbitrary bytes, a finding, an answer, an answer
/// whose first fields are well-formed) and the number of further copies (bits 3 to 7), two bytes of length,
/// and the bytes.
inline std::string make_packets(protocol::Ask request, Bytes& input) {
    const auto head = input.take<std::uint8_t>();
    const std::string_view bytes = input.text(input.take<std::uint16_t>());
    const auto make_packet = [&](auto content, protocol::PacketKind kind, std::size_t keep = 0) {
        const auto before = content;
        Bytes(bytes).read(content);
        std::memcpy(static_cast<void*>(&content), &before, keep);
        const protocol::Packet<decltype(content)> packet{kind, 0, content};
        return std::string(reinterpret_cast<const char*>(&packet), sizeof packet);
    };
    std::string packet(bytes), packets;
    if ((head & 3) == 1) packet = make_packet(RawFinding{}, protocol::PacketKind::finding);
    if ((head & 3) == 2) packet = make_packet(protocol::Answer{}, protocol::PacketKind::answer);
    if ((head & 3) == 3)
        packet =
            make_packet(make_well_formed_answer(request), protocol::PacketKind::answer, offsetof(protocol::Answer, ok));
    for (int times = 1 + (head >> 3); times > 0; --times) packets += packet;
    return packets;
}

/// Read a stream that arrives in two pieces, the first of `cut` bytes.
inline Inbox::Read read_pieces(Inbox& inbox, protocol::Ask request, std::string_view stream, std::size_t cut) {
    const Pipe pipe;
    Inbox::Read read = Inbox::Read::nothing;
    for (const std::string_view piece : {stream.substr(0, cut), stream.substr(cut)}) {
        if (read != Inbox::Read::nothing) break;
        const auto written = write(pipe.runner, piece.data(), piece.size());
        require(written == static_cast<ssize_t>(piece.size()), "the pipe accepts a piece");
        read = inbox.read(pipe.judge, request);
    }
    return read;
}

inline void require_sound(const protocol::Answer& answer, protocol::Ask request) {
    require(answer.magic == protocol::magic && answer.version == protocol::version && answer.ask == request,
            "an answer belongs to the request");
    require(std::isfinite(answer.event_s) && answer.event_s >= 0, "event_s is a time");
    require(std::isfinite(answer.wall_s) && answer.wall_s >= 0, "wall_s is a time");
    const Failure failure = explain_refusal(answer, StatusPage{});
    require(failure.message.size() < 1000, "a refusal is short");
}

/// The first byte selects the request, the second the cut; the packets follow.
inline void try_answer(std::string_view bytes) {
    constexpr std::size_t max_bytes = 60'000;  // a pipe holds 64 KiB
    Bytes input(bytes);
    const auto request = static_cast<protocol::Ask>(1 + input.take<std::uint8_t>() % 5);
    const std::size_t cut_in_256 = input.take<std::uint8_t>();
    std::string stream;
    while (!input.empty() && stream.size() < max_bytes) stream += make_packets(request, input);
    stream.resize(std::min(stream.size(), max_bytes));
    Inbox whole, cut;
    const Inbox::Read read = read_pieces(whole, request, stream, 0);
    require(read_pieces(cut, request, stream, stream.size() * cut_in_256 / 256) == read,
            "pieces give the same result as the whole");
    require(whole.findings().size() == cut.findings().size(), "pieces contain the same findings");
    require(whole.findings().size() <= max_findings, "no more findings than the sanitizer makes");
    if (read == Inbox::Read::answer) require_sound(whole.answer(), request);
}

}  // namespace warplab::fuzz
