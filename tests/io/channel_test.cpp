#include "grader/io/channel.h"

#include <gtest/gtest.h>

#include "grader/io/status_page.h"
#include "tests/hostile/forged_answer.h"
#include "tests/hostile/forged_page.h"

namespace warplab::protocol {
namespace {

static_assert(sizeof(::Answer) == sizeof(Packet<Answer>), "hostile hand-ins forge answers of the expected size");

TEST(ForgedPage, HasTheOffsetsOfTheStatusPage) {
    const StatusPage page{};
    const auto offset = [&](const auto& field) {
        return static_cast<std::size_t>(reinterpret_cast<const char*>(&field) - reinterpret_cast<const char*>(&page));
    };
    EXPECT_EQ(ForgedPage::bytes, sizeof page);
    EXPECT_EQ(ForgedPage::finding_count, offset(page.finding_count));
    EXPECT_EQ(ForgedPage::findings, offset(page.findings));
    EXPECT_EQ(ForgedPage::guard_count, offset(page.guard_count));
    EXPECT_EQ(ForgedPage::shape_count, offset(page.shape_count));
    EXPECT_EQ(ForgedPage::finding_bytes, sizeof(RawFinding));
    EXPECT_EQ(ForgedPage::side_bytes, sizeof(FindingSide));
    EXPECT_EQ(ForgedPage::side_in_finding, offset(page.findings[0].now) - offset(page.findings));
    EXPECT_EQ(ForgedPage::width_in_finding, offset(page.findings[0].width) - offset(page.findings));
    EXPECT_EQ(ForgedPage::lines_in_finding, offset(page.findings[0].line) - offset(page.findings));
}

/// A socket like the judge's: the runner's end cannot send.
struct Socket {
    int judge = -1, runner = -1;
    Socket() {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) judge = ends[0], runner = ends[1];
        shutdown(judge, SHUT_RD);
    }
    ~Socket() {
        close(judge);
        close(runner);
    }
};

TEST(Channel, CarriesARequestWithItsDescriptors) {
    const Socket socket;
    Request sent{};
    sent.ask = Ask::open;
    sent.sizes[0] = 1000003;
    const int file = open("/dev/null", O_RDONLY);
    ASSERT_EQ(send_request(socket.judge, sent, &file, 1), SendResult::whole);
    Request received{};
    int descriptors[max_descriptors], count = 0;
    ASSERT_TRUE(receive_request(socket.runner, received, descriptors, count));
    EXPECT_EQ(received.sizes[0], 1000003);
    ASSERT_EQ(count, 1);
    EXPECT_NE(descriptors[0], file);
    EXPECT_EQ(fcntl(descriptors[0], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(descriptors[0]);
    close(file);
}

TEST(Channel, NeverWaitsForARunnerThatDoesNotRead) {
    const Socket socket;
    SendResult sent = SendResult::whole;
    for (int i = 0; i < 10000 && sent == SendResult::whole; ++i) sent = send_request(socket.judge, Request{});
    EXPECT_EQ(sent, SendResult::refused);
}

TEST(Channel, NoticesThatTheRunnerIsGone) {
    Socket socket;
    close(socket.runner);
    socket.runner = -1;
    EXPECT_EQ(send_request(socket.judge, Request{}), SendResult::closed);
}

TEST(Channel, AcceptsNothingFromTheRunner) {
    const Socket socket;
    char control[CMSG_SPACE(sizeof(int))] = {};
    iovec part{control, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    *CMSG_FIRSTHDR(&message) = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &socket.runner, sizeof socket.runner);
    EXPECT_EQ(sendmsg(socket.runner, &message, MSG_NOSIGNAL), -1);
    EXPECT_EQ(errno, EPIPE);
}

TEST(Channel, WritesAPacketInOnePiece) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    Answer answer{};
    answer.launches = 7;
    ASSERT_TRUE(send_packet(ends[1], PacketKind::answer, answer));
    Packet<Answer> received;
    ASSERT_EQ(read(ends[0], static_cast<void*>(&received), sizeof received), static_cast<ssize_t>(sizeof received));
    EXPECT_EQ(received.kind, PacketKind::answer);
    EXPECT_EQ(received.content.launches, 7u);
    close(ends[0]);
    EXPECT_FALSE(send_packet(-1, PacketKind::answer, answer));
    close(ends[1]);
}

}  // namespace
}  // namespace warplab::protocol
