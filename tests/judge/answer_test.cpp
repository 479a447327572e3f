#include "grader/judge/answer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <limits>

#include "grader/io/channel.h"
#include "grader/judge/session.h"

namespace warplab {
namespace {

struct Channel {
    Descriptor judge, runner;
    Channel() {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0)
            judge = Descriptor(ends[0]), runner = Descriptor(ends[1]);
    }
};

protocol::Answer good_answer() {
    protocol::Answer answer{};
    answer.magic = protocol::magic;
    answer.version = protocol::version;
    answer.ask = protocol::Ask::run;
    return answer;
}

TEST(Answer, ComesAfterFindings) {
    const Channel channel;
    std::vector<Finding> findings;
    protocol::Answer answer{};
    EXPECT_EQ(take_answer(channel.judge.get(), protocol::Ask::run, findings, answer), Heard::nothing);
    protocol::send_packet(channel.runner.get(), Finding{});
    EXPECT_EQ(take_answer(channel.judge.get(), protocol::Ask::run, findings, answer), Heard::nothing);
    protocol::send_packet(channel.runner.get(), Finding{});
    protocol::send_packet(channel.runner.get(), good_answer());
    EXPECT_EQ(take_answer(channel.judge.get(), protocol::Ask::run, findings, answer), Heard::answer);
    EXPECT_EQ(findings.size(), 2u);
}

TEST(Answer, IsALieWhenAnyFieldIsNone) {
    const auto heard = [](auto&& change) {
        const Channel channel;
        protocol::Answer answer = good_answer();
        change(answer);
        protocol::send_packet(channel.runner.get(), answer);
        std::vector<Finding> findings;
        return take_answer(channel.judge.get(), protocol::Ask::run, findings, answer);
    };
    EXPECT_EQ(heard([](auto&) {}), Heard::answer);
    EXPECT_EQ(heard([](auto& answer) { answer.magic = 1; }), Heard::lie);
    EXPECT_EQ(heard([](auto& answer) { answer.version = 2; }), Heard::lie);
    EXPECT_EQ(heard([](auto& answer) { answer.ask = protocol::Ask::hello; }), Heard::lie);
    EXPECT_EQ(heard([](auto& answer) { answer.event_s = -1; }), Heard::lie);
    EXPECT_EQ(heard([](auto& answer) { answer.wall_s = std::numeric_limits<double>::quiet_NaN(); }), Heard::lie);
}

}  // namespace
}  // namespace warplab
