#include "grader/judge/run/inbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

#include "grader/io/channel.h"
#include "grader/judge/run/session.h"

namespace warplab {
namespace {

using protocol::PacketKind;
using Read = Inbox::Read;

struct Pipe {
    Descriptor judge, runner;
    Pipe() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) judge = Descriptor(ends[0]), runner = Descriptor(ends[1]);
    }
    void send(const std::string& bytes) const {
        EXPECT_EQ(write(runner.get(), bytes.data(), bytes.size()), bytes.size());
    }
};

protocol::Answer good_answer() {
    protocol::Answer answer{};
    answer.magic = protocol::magic;
    answer.version = protocol::version;
    answer.ask = protocol::Ask::run;
    return answer;
}

TEST(Inbox, TakesFindingsBeforeTheAnswer) {
    const Pipe pipe;
    Inbox inbox;
    EXPECT_EQ(inbox.read(pipe.judge.get(), protocol::Ask::run), Read::nothing);
    protocol::send_packet(pipe.runner.get(), PacketKind::finding, RawFinding{});
    EXPECT_EQ(inbox.read(pipe.judge.get(), protocol::Ask::run), Read::nothing);
    protocol::send_packet(pipe.runner.get(), PacketKind::finding, RawFinding{});
    protocol::send_packet(pipe.runner.get(), PacketKind::answer, good_answer());
    EXPECT_EQ(inbox.read(pipe.judge.get(), protocol::Ask::run), Read::answer);
    EXPECT_EQ(inbox.findings().size(), 2u);
}

TEST(Inbox, JoinsPiecesOfAPacket) {
    const Pipe pipe;
    Inbox inbox;
    const protocol::Packet<protocol::Answer> packet{PacketKind::answer, 0, good_answer()};
    const std::string bytes(reinterpret_cast<const char*>(&packet), sizeof packet);
    for (const std::size_t cut : {1ul, 5ul, 100ul}) {
        pipe.send(bytes.substr(0, cut));
        EXPECT_EQ(inbox.read(pipe.judge.get(), protocol::Ask::run), Read::nothing);
        pipe.send(bytes.substr(cut));
        EXPECT_EQ(inbox.read(pipe.judge.get(), protocol::Ask::run), Read::answer);
    }
}

TEST(Inbox, RefusesBytesThatAreNotAPacket) {
    for (const std::string& bytes : {std::string("done"), std::string(60000, 'x')}) {
        const Pipe pipe;
        pipe.send(bytes);
        EXPECT_EQ(Inbox().read(pipe.judge.get(), protocol::Ask::run), Read::violation);
    }
}

TEST(Inbox, DistinguishesEmptyAndClosedPipes) {
    Pipe pipe;
    Inbox inbox;
    EXPECT_EQ(inbox.read(pipe.judge.get(), protocol::Ask::run), Read::nothing);
    pipe.runner.reset();
    EXPECT_EQ(inbox.read(pipe.judge.get(), protocol::Ask::run), Read::closed);
}

TEST(Inbox, RefusesAnAnswerWithAnInvalidField) {
    const auto read = [](auto&& change) {
        const Pipe pipe;
        protocol::Answer answer = good_answer();
        change(answer);
        protocol::send_packet(pipe.runner.get(), PacketKind::answer, answer);
        return Inbox().read(pipe.judge.get(), protocol::Ask::run);
    };
    EXPECT_EQ(read([](auto&) {}), Read::answer);
    EXPECT_EQ(read([](auto& answer) { answer.magic = 1; }), Read::violation);
    EXPECT_EQ(read([](auto& answer) { answer.version = 9; }), Read::violation);
    EXPECT_EQ(read([](auto& answer) { answer.ask = protocol::Ask::hello; }), Read::violation);
    EXPECT_EQ(read([](auto& answer) { answer.event_s = -1; }), Read::violation);
    EXPECT_EQ(read([](auto& answer) { answer.wall_s = std::numeric_limits<double>::quiet_NaN(); }), Read::violation);
}

TEST(Inbox, CorrectsInvalidNumbersInForgedFindings) {
    StatusPage page{};
    page.finding_count = ~0u;
    for (RawFinding& finding : page.findings) finding.line = -1, finding.other_line = std::numeric_limits<int>::min();
    const auto findings = merge_findings({}, page);
    ASSERT_EQ(findings.size(), max_findings);
    EXPECT_EQ(findings[0].width, 1u);
    EXPECT_EQ(findings[0].line, 0);
    EXPECT_EQ(findings[0].other_line, 0);
}

}  // namespace
}  // namespace warplab
