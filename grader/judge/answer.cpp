#include "grader/judge/answer.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "grader/io/channel.h"

namespace warplab {
namespace {

bool is_time(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

bool is_well_formed(const protocol::Answer& answer, protocol::Ask asked) {
    return answer.magic == protocol::magic && answer.version == protocol::version && answer.ask == asked &&
           is_time(answer.event_s) && is_time(answer.wall_s);
}

/// Bytes of the packet that comes next, which stays; less than 0 when there is none.
ssize_t next_size(int channel) {
    char byte;
    return recv(channel, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC);
}

template <class Packet>
protocol::Received take_packet(int channel, Packet& packet) {
    int extra = 0;
    return protocol::receive_packet(channel, packet, nullptr, 0, extra, MSG_DONTWAIT);
}

/// Of the same kind at the same places.
bool is_same(const Finding& a, const Finding& b) {
    return a.kind == b.kind && a.now.program_counter == b.now.program_counter &&
           a.before.program_counter == b.before.program_counter && a.line == b.line;
}

}  // namespace

bool take_findings(int channel, std::vector<Finding>& findings) {
    static_assert(sizeof(Finding) != sizeof(protocol::Answer), "they are told apart by their size");
    while (next_size(channel) == sizeof(Finding)) {
        Finding finding;
        if (findings.size() >= most_findings || take_packet(channel, finding) != protocol::Received::packet)
            return false;
        findings.push_back(finding);
    }
    return true;
}

Heard take_answer(int channel, protocol::Ask asked, std::vector<Finding>& findings, protocol::Answer& answer) {
    if (!take_findings(channel, findings)) return Heard::lie;
    const ssize_t size = next_size(channel);
    if (size < 0) return errno == EAGAIN || errno == EINTR ? Heard::nothing : Heard::closed;
    if (size == sizeof(Finding)) return Heard::nothing;  // it came just now, and is no answer
    switch (take_packet(channel, answer)) {
        case protocol::Received::packet:
            return is_well_formed(answer, asked) ? Heard::answer : Heard::lie;
        case protocol::Received::malformed:
            return Heard::lie;
        case protocol::Received::nothing:
            return Heard::nothing;
        case protocol::Received::closed:
            break;
    }
    return Heard::closed;
}

std::vector<Finding> merge_findings(std::vector<Finding> told, const StatusPage& page) {
    for (std::uint32_t i = 0; i < std::min(page.finding_count, most_findings); ++i) {
        const Finding& now = page.findings[i];
        if (i >= told.size())
            told.push_back(now);
        else if (is_same(told[i], now))
            told[i].count = std::max(told[i].count, now.count);
    }
    return told;
}

}  // namespace warplab
