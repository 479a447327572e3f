#include "grader/judge/run/inbox.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>

#include "grader/io/channel.h"

namespace warplab {
namespace {

constexpr std::size_t chunk_bytes = 4096;

bool is_duration(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

bool is_well_formed(const protocol::Answer& answer, protocol::Ask expected) {
    return answer.magic == protocol::magic && answer.version == protocol::version && answer.ask == expected &&
           is_duration(answer.event_s) && is_duration(answer.wall_s);
}

/// Move a packet's content from the front of `bytes`; nothing if it is incomplete.
template <class Content>
std::optional<Content> take_content(std::string& bytes) {
    protocol::Packet<Content> packet;
    if (bytes.size() < sizeof packet) return std::nullopt;
    std::memcpy(static_cast<void*>(&packet), bytes.data(), sizeof packet);
    bytes.erase(0, sizeof packet);
    return packet.content;
}

/// Return whether two findings have the same kind and the same places.
bool is_same(const RawFinding& a, const RawFinding& b) {
    return a.kind == b.kind && a.now.program_counter == b.now.program_counter &&
           a.before.program_counter == b.before.program_counter && a.line == b.line;
}

}  // namespace

Inbox::Read Inbox::read(int pipe, protocol::Ask expected) {
    for (;;) {
        const Read parsed = parse(expected);
        if (parsed != Read::nothing) return parsed;
        char chunk[chunk_bytes];
        const ssize_t count = ::read(pipe, chunk, sizeof chunk);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Read::nothing : Read::closed;
        if (count == 0) return Read::closed;
        bytes_.append(chunk, static_cast<std::size_t>(count));
    }
}

/// Take complete packets up to an answer. At most one incomplete packet is left, so that endless output soon becomes a
/// violation.
Inbox::Read Inbox::parse(protocol::Ask expected) {
    while (bytes_.size() >= sizeof(protocol::PacketKind)) {
        protocol::PacketKind kind;
        std::memcpy(&kind, bytes_.data(), sizeof kind);
        if (kind == protocol::PacketKind::finding) {
            const auto finding = take_content<RawFinding>(bytes_);
            if (!finding) return Read::nothing;
            if (findings_.size() >= max_findings) return Read::violation;
            findings_.push_back(*finding);
        } else if (kind == protocol::PacketKind::answer) {
            const auto answer = take_content<protocol::Answer>(bytes_);
            if (!answer) return Read::nothing;
            if (!is_well_formed(*answer, expected)) return Read::violation;
            answer_ = *answer;
            return Read::answer;
        } else {
            return Read::violation;
        }
    }
    return Read::nothing;
}

std::vector<RawFinding> merge_findings(std::vector<RawFinding> sent, const StatusPage& page) {
    for (std::uint32_t i = 0; i < std::min(page.finding_count, max_findings); ++i) {
        const RawFinding& now = page.findings[i];
        if (i >= sent.size())
            sent.push_back(now);
        else if (is_same(sent[i], now))
            sent[i].count = std::max(sent[i].count, now.count);
    }
    for (RawFinding& finding : sent) {
        finding.width = std::max(finding.width, 1u);  // because messages divide by it
        finding.line = std::max(finding.line, 0);
        finding.other_line = std::max(finding.other_line, 0);
    }
    return sent;
}

}  // namespace warplab
