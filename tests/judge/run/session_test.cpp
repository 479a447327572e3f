#include "grader/judge/run/session.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <future>
#include <memory>
#include <utility>

#include "grader/model/cause.h"

namespace warplab {
namespace {

/// Return a session whose child runs a Python program instead of the runner. The child reads requests from descriptor 3
/// and writes answers to 5; 4 is the status page.
Session child(const std::string& program, std::shared_ptr<Budget> budget = nullptr) {
    Policy policy;
    policy.limits.wall_s = 5;
    policy.budget = std::move(budget);
    return Session("/unused", policy, {"/usr/bin/env", "python3", "-c", "import os, socket, struct, time\n" + program});
}

// The fields of an answer: magic, version, ask, ok, cuda_error, has_host, scratch, event_s, wall_s, host_bytes,
// launches, leaked, observed, message; then the seal: the SipHash-2-4 of these fields, with the key at the start of the
// status page.
constexpr auto answer = R"(
channel = socket.socket(fileno=3)
low, high = struct.unpack('<QQ', os.pread(4, 16, 0))
sealed = 0
def seal(content):
    global sealed
    sealed += 1
    key = low ^ sealed
    v = [key ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d, key ^ 0x6c7967656e657261, high ^ 0x7465646279746573]
    rotate = lambda word, bits: (word << bits | word >> 64 - bits) & 2 ** 64 - 1
    def turn(a, b, bits, wide):
        v[a] = v[a] + v[b] & 2 ** 64 - 1
        v[b] = rotate(v[b], bits) ^ v[a]
        v[a] = rotate(v[a], 32) if wide else v[a]
    def rounds(count):
        for _ in range(count): turn(0, 1, 13, True), turn(2, 3, 16, False), turn(0, 3, 21, False), turn(2, 1, 17, True)
    for word in [*struct.unpack(f'<{len(content) // 8}Q', content), len(content) % 256 << 56]:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return struct.pack('<Q', v[0] ^ v[1] ^ v[2] ^ v[3])
def send(kind, content):
    os.write(5, struct.pack('<4sI', kind, 0) + content)
def answer(ask=4, magic=0x57415250, version=4, ok=1, event_s=0.5, message=b'', key=None):
    content = struct.pack('<IIIIiIQddQQq280s512s', magic, version, ask, ok, 0, 0, 0, event_s, 0.0, 0, 1, 0, b'', message)
    return b'SNAW', content + (key or seal(content))
)";

Session::Reply ask_run(Session& session, double limit_s = 5) {
    return session.ask(make_request(protocol::Ask::run), {}, limit_s);
}

TEST(Session, TakesAWellFormedAnswer) {
    Session session = child(std::string(answer) + "channel.recv(99999); send(*answer()); time.sleep(5)");
    const Session::Reply reply = ask_run(session);
    ASSERT_FALSE(reply.failure) << reply.failure->message;
    EXPECT_EQ(reply.answer.event_s, 0.5);
    EXPECT_TRUE(session.alive());
}

/// Three processes that keep a processor busy, so that a fourth one gets a quarter of its time. Each has its own
/// session, because the kernel may divide the time by sessions.
class Neighbours {
  public:
    explicit Neighbours(int processor) {
        for (pid_t& process : processes_) {
            process = fork();
            if (process == 0) spin(processor);
        }
    }
    ~Neighbours() {
        for (const pid_t process : processes_) {
            kill(process, SIGKILL);
            waitpid(process, nullptr, 0);
        }
    }

  private:
    [[noreturn]] static void spin(int processor) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        cpu_set_t only_processor;
        CPU_ZERO(&only_processor);
        CPU_SET(processor, &only_processor);
        sched_setaffinity(0, sizeof only_processor, &only_processor);
        volatile unsigned count = 0;
        for (;;) count = count + 1;
    }

    pid_t processes_[3];
};

/// Return a program that computes for `seconds` on `processor` and then answers.
std::string computing_program(double seconds, int processor) {
    return std::string(answer) +
           fmt::format(
               "channel.recv(99999); os.sched_setaffinity(0, [{}]); until = time.process_time() + {}\n"
               "while time.process_time() < until: pass\nsend(*answer()); time.sleep(5)",
               processor, seconds);
}

TEST(Session, GivesAStarvedProgramMoreTime) {
    const int processor = sched_getcpu();
    Session session = child(computing_program(0.5, processor));
    const Neighbours neighbours(processor);
    const Session::Reply reply = ask_run(session, 0.5);
    EXPECT_FALSE(reply.failure) << reply.failure->message;
}

TEST(Session, WaitingForAProcessorHardlyUsesTheBudget) {
    const int processor = sched_getcpu();
    Session session = child(computing_program(1, processor), std::make_shared<Budget>(2, 100));
    const Neighbours neighbours(processor);
    const Session::Reply reply = ask_run(session, 5);
    EXPECT_FALSE(reply.failure) << reply.failure->message;
}

TEST(Session, ReportsTheRunnersCudaError) {
    Session session =
        child(std::string(answer) +
              "channel.recv(99999); send(*answer(ok=0, message=b'in the call: bad\\x1b[31m'))\ntime.sleep(5)");
    const Session::Reply reply = ask_run(session);
    ASSERT_TRUE(reply.failure);
    EXPECT_EQ(reply.failure->cause, cause::cuda_error);
    EXPECT_NE(reply.failure->message.find("in the call: bad [31m"), std::string::npos) << reply.failure->message;
}

// The packet of one finding, with its kind and a line; all other fields are 0.
constexpr auto finding = R"(
def finding(kind=1, line=7):
    words = bytearray(SIZE)
    words[0:4] = struct.pack('<I', kind)
    words[LINE:LINE + 4] = struct.pack('<i', line)
    return b'NIFW', bytes(words)
)";

std::string child_with_findings(const std::string& program) {
    return fmt::format("SIZE = {}\nLINE = {}\n", sizeof(RawFinding), offsetof(RawFinding, line)) + answer + finding +
           program;
}

TEST(Session, KeepsFindingsThatArriveBeforeTheAnswer) {
    Session session =
        child(child_with_findings("channel.recv(99999); send(*finding()); send(*finding(line=9)); send(*answer())\n"
                                  "os.pwrite(4, bytes(os.fstat(4).st_size), 0); time.sleep(5)"));
    ASSERT_FALSE(ask_run(session).failure);
    const std::vector<RawFinding> findings = session.findings();
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].line, 7);
    EXPECT_EQ(findings[1].line, 9);
}

TEST(Session, KeepsFindingsThatArriveBeforeACrash) {
    Session session = child(child_with_findings("channel.recv(99999); send(*finding()); os.abort()"));
    EXPECT_TRUE(ask_run(session).failure);
    EXPECT_EQ(session.findings().size(), 1u);
}

TEST(Session, RefusesTooManyFindings) {
    Session session = child(
        child_with_findings(fmt::format("channel.recv(99999)\nfor _ in range({}): send(*finding())\nsend(*answer()); "
                                        "time.sleep(5)",
                                        max_findings + 1)));
    const Session::Reply reply = ask_run(session);
    ASSERT_TRUE(reply.failure);
    EXPECT_EQ(reply.failure->cause, cause::protocol);
    EXPECT_FALSE(session.alive());
}

class Violation : public testing::TestWithParam<const char*> {};

TEST_P(Violation, EndsTheRunner) {
    Session session = child(std::string(answer) + "channel.recv(99999); " + GetParam() + "; time.sleep(5)");
    const Session::Reply reply = ask_run(session);
    ASSERT_TRUE(reply.failure);
    EXPECT_EQ(reply.failure->cause, cause::protocol);
    EXPECT_FALSE(session.alive());
}

INSTANTIATE_TEST_SUITE_P(Session, Violation,
                         testing::Values("os.write(5, b'done')", "os.write(5, b'x' * 100000)", "send(*answer(magic=1))",
                                         "send(*answer(version=9))", "send(*answer(key=bytes(8)))",
                                         "send(*answer(ask=1))", "send(*answer(event_s=float('nan')))",
                                         "send(*answer(event_s=-1.0))"));

TEST(Session, RefusesAnAnswerWithoutARequest) {
    Session session =
        child(std::string(answer) + "channel.recv(99999); send(*answer()); send(*answer()); time.sleep(5)");
    EXPECT_FALSE(ask_run(session).failure);
    usleep(200000);
    const Session::Reply reply = ask_run(session);
    ASSERT_TRUE(reply.failure);
    EXPECT_EQ(reply.failure->cause, cause::protocol);
    EXPECT_FALSE(session.alive());
}

TEST(Session, RequestSocketAcceptsNothingFromTheRunner) {
    Session session = child(
        std::string(answer) +
        "channel.recv(99999)\ntry: socket.send_fds(channel, [b'x'], [0])\nexcept BrokenPipeError: send(*answer())\n"
        "time.sleep(5)");
    EXPECT_FALSE(ask_run(session).failure);
}

TEST(Session, DoesNotWaitForARunnerThatOnlyPeeks) {
    Session session = child(std::string(answer) + R"(
channel.setsockopt(socket.SOL_SOCKET, 42, 0)  # SO_PEEK_OFF
while True:
    channel.recv(99999, socket.MSG_PEEK)
    send(*answer())
    time.sleep(0.001)
)");
    Session::Reply reply;
    for (int i = 0; i < 1000 && !reply.failure; ++i) reply = ask_run(session);
    ASSERT_TRUE(reply.failure);
    EXPECT_EQ(reply.failure->cause, cause::protocol);
    EXPECT_FALSE(session.alive());
}

TEST(Session, TimesOutOnSilence) {
    Session session = child("time.sleep(60)");
    const Session::Reply reply = ask_run(session, 0.5);
    ASSERT_TRUE(reply.failure);
    EXPECT_EQ(reply.failure->cause, cause::timeout);
}

TEST(Session, EndsARequestThatIsCancelled) {
    Session session = child("time.sleep(600)");
    std::atomic<bool> cancelled = false;
    session.end_when(&cancelled);
    const auto cancel = std::async(std::launch::async, [&] { cancelled = true; });
    EXPECT_TRUE(ask_run(session, 600).failure);  // the test's own time limit is shorter
    EXPECT_FALSE(session.alive());
}

TEST(Session, NamesTheSignalThatEndedTheChild) {
    Session session = child("socket.socket(fileno=3).recv(99999); os.kill(os.getpid(), 11)");
    const Session::Reply reply = ask_run(session);
    ASSERT_TRUE(reply.failure);
    EXPECT_EQ(reply.failure->cause, cause::crash);
    EXPECT_NE(reply.failure->message.find("segmentation fault"), std::string::npos) << reply.failure->message;
}

TEST(Session, SaysThatTheCodeExited) {
    Session session = child("socket.socket(fileno=3).recv(99999); os.pwrite(4, struct.pack('<I', 3), 0); os._exit(0)");
    const Session::Reply reply = ask_run(session);
    ASSERT_TRUE(reply.failure);
    EXPECT_EQ(reply.failure->cause, cause::exited);
}

TEST(Session, TakesStatus90ForAFailedCudaCheck) {
    Session session = child(
        "print('x.cu:7: cudaMalloc(&p, n) failed: cudaErrorMemoryAllocation (out of memory)', flush=True); "
        "os._exit(90)");
    const Session::Reply reply = ask_run(session);
    ASSERT_TRUE(reply.failure);
    EXPECT_EQ(reply.failure->cause, cause::cuda_error);
    EXPECT_NE(reply.failure->message.find("x.cu:7"), std::string::npos) << reply.failure->message;
}

TEST(Session, DoesNotTrustTheStatusPage) {
    Session session = child("page = os.pwrite(4, b'\\xff' * 700, 0); os.kill(os.getpid(), 11)");
    const Session::Reply reply = ask_run(session);
    ASSERT_TRUE(reply.failure);
    EXPECT_EQ(reply.failure->cause, cause::crash);
}

TEST(Session, KeepsOutputWithinItsCap) {
    Session session = child(std::string(answer) +
                            "channel.recv(99999); print('x' * 30000000, flush=True); send(*answer()); time.sleep(5)");
    const Session::Reply reply = ask_run(session);
    EXPECT_FALSE(reply.failure);
    EXPECT_LE(session.output().size(), Limits{}.output_bytes + 200);
}

}  // namespace
}  // namespace warplab
