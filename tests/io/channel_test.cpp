#include "grader/io/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "grader/io/protocol.h"

namespace warplab::protocol {
namespace {

struct Channel {
    int judge = -1, runner = -1;
    Channel() {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) judge = ends[0], runner = ends[1];
    }
    ~Channel() {
        close(judge);
        close(runner);
    }
};

Received receive_answer(int channel, Answer& answer) {
    int count = 0;
    return receive_packet(channel, answer, nullptr, 0, count, MSG_DONTWAIT);
}

TEST(Channel, CarriesARequestWithItsDescriptors) {
    const Channel channel;
    Request sent{};
    sent.ask = Ask::open;
    sent.sizes[0] = 1000003;
    const int file = open("/dev/null", O_RDONLY);
    ASSERT_TRUE(send_packet(channel.judge, sent, &file, 1));
    Request got{};
    int descriptors[max_descriptors], count = 0;
    ASSERT_EQ(receive_packet(channel.runner, got, descriptors, max_descriptors, count), Received::packet);
    EXPECT_EQ(got.sizes[0], 1000003);
    ASSERT_EQ(count, 1);
    EXPECT_NE(descriptors[0], file);
    EXPECT_EQ(fcntl(descriptors[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(descriptors[0]);
    close(file);
}

TEST(Channel, RefusesPacketsOfAnotherSize) {
    const Channel channel;
    Answer answer{};
    send(channel.runner, "done", 4, 0);
    EXPECT_EQ(receive_answer(channel.judge, answer), Received::malformed);
    const std::string much(sizeof answer + 1, 'x');
    send(channel.runner, much.data(), much.size(), 0);
    EXPECT_EQ(receive_answer(channel.judge, answer), Received::malformed);
}

TEST(Channel, ClosesDescriptorsNobodyAskedFor) {
    const Channel channel;
    const int file = open("/dev/null", O_RDONLY);
    ASSERT_TRUE(send_packet(channel.runner, Answer{}, &file, 1));
    const int next = dup(file);  // the number that a received descriptor would have got
    close(next);
    Answer answer{};
    EXPECT_EQ(receive_answer(channel.judge, answer), Received::packet);
    EXPECT_EQ(fcntl(next, F_GETFD), -1);
    close(file);
}

TEST(Channel, TellsSilenceFromAClosedEnd) {
    Channel channel;
    Answer answer{};
    EXPECT_EQ(receive_answer(channel.judge, answer), Received::nothing);
    close(channel.runner);
    channel.runner = -1;
    EXPECT_EQ(receive_answer(channel.judge, answer), Received::closed);
    EXPECT_FALSE(send_packet(channel.judge, Request{}));
}

}  // namespace
}  // namespace warplab::protocol
