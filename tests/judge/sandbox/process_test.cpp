#include "grader/judge/sandbox/process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "tests/paths.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

/// Return a folder that every user may enter; it is removed when the tests end.
const fs::path& scratch() {
    struct Folder {
        fs::path path;
        Folder() {
            char name[] = "/tmp/process-test-XXXXXX";
            path = mkdtemp(name);
            chmod(name, 0755);
        }
        ~Folder() { fs::remove_all(path); }
    };
    static const Folder folder;
    return folder.path;
}

const fs::path& mischief() {
    static const fs::path program = [] {
        const fs::path built = scratch() / "bin" / "mischief";
        fs::create_directory(built.parent_path());
        const std::string command = "g++ -O1 -o '" + built.string() + "' '" +
                                    (test::root_folder() / "tests/judge/sandbox/mischief.cpp").string() + "'";
        if (std::system(command.c_str()) != 0) std::abort();
        return built;
    }();
    return program;
}

bool offered(SandboxLevel level) {
    return level == SandboxLevel::none || (level == SandboxLevel::uid && geteuid() == 0) ||
           sandbox_support().level == level;
}

class EveryLevel : public testing::TestWithParam<SandboxLevel> {
  protected:
    void SetUp() override {
        if (!offered(GetParam())) GTEST_SKIP() << sandbox_support().why_not_stronger;
        policy.level = GetParam();
        policy.readable = {mischief().parent_path()};
        policy.limits.wall_s = 20;
        policy.limits.memory_bytes = 1ull << 30;
        policy.limits.processes = 30;
    }
    bool sandboxed() const { return GetParam() != SandboxLevel::none; }
    Ended run(const std::vector<std::string>& action) const {
        std::vector<std::string> command = {mischief().string()};
        command.insert(command.end(), action.begin(), action.end());
        return run_to_end(command, policy);
    }
    Process begin(const std::vector<std::string>& action, const std::vector<int>& inherited = {}) const {
        std::vector<std::string> command = {mischief().string()};
        command.insert(command.end(), action.begin(), action.end());
        return Process::start(command, policy, inherited);
    }
    Policy policy;
};

std::string level_name(const testing::TestParamInfo<SandboxLevel>& info) {
    return std::string(sandbox_name(info.param));
}
INSTANTIATE_TEST_SUITE_P(Process, EveryLevel,
                         testing::Values(SandboxLevel::none, SandboxLevel::uid, SandboxLevel::namespaces), level_name);

/// A pipe whose other end is open in the child and in all processes that it starts. If the pipe is closed, all of them
/// have ended. A process that ends by itself, without being killed, writes to the pipe.
struct Lifeline {
    int ends[2];
    Lifeline() { EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0); }
    ~Lifeline() {
        for (int end : ends)
            if (end >= 0) close(end);
    }
    int for_child() const { return ends[1]; }
    void close_own_end() {
        close(ends[1]);
        ends[1] = -1;
    }
    bool all_have_ended() {
        pollfd entry{ends[0], POLLIN, 0};
        return poll(&entry, 1, 3000) == 1 && entry.revents == POLLHUP;
    }
};

TEST_P(EveryLevel, ExitStatusPassesThrough) {
    EXPECT_EQ(run({"exit", "0"}).status, 0);
    const Ended ended = run({"exit", "7"});
    EXPECT_EQ(ended.how, End::exited);
    EXPECT_EQ(ended.status, 7);
}

TEST_P(EveryLevel, SignalsPassThrough) {
    for (int signal : {SIGSEGV, SIGABRT, SIGFPE}) {
        const Ended ended = run({"raise", std::to_string(signal)});
        EXPECT_EQ(ended.how, End::signaled);
        EXPECT_EQ(ended.status, signal);
    }
}

TEST_P(EveryLevel, MissingProgramIsNotStarted) {
    const Ended ended = run_to_end({"/no/such/program"}, policy);
    EXPECT_EQ(ended.how, End::not_started);
    EXPECT_THAT(ended.start_error, HasSubstr("/no/such/program"));
}

TEST_P(EveryLevel, MissingReadableFolderPreventsTheStartIfTheSandboxNeedsIt) {
    policy.readable.push_back("/no/such/folder");
    const Ended ended = run({"exit", "3"});
    if (GetParam() == SandboxLevel::namespaces) {
        EXPECT_EQ(ended.how, End::not_started);
        EXPECT_THAT(ended.start_error, HasSubstr("/no/such/folder"));
    } else {
        EXPECT_EQ(ended.status, 3);
    }
}

TEST_P(EveryLevel, WallClockLimitEndsStubbornProgram) {
    policy.limits.wall_s = 0.3;
    const Ended ended = run({"stubborn"});
    EXPECT_EQ(ended.how, End::timed_out);
    EXPECT_LT(ended.wall_s, 5);
}

TEST_P(EveryLevel, TimeLimitCanBeRestarted) {
    policy.limits.wall_s = 0.3;
    Process process = begin({"stubborn"});
    process.restart_clock(100);
    EXPECT_EQ(process.wait_for(0.6), Process::Event::elapsed);
    EXPECT_TRUE(process.running());
    process.restart_clock(0.1);
    EXPECT_EQ(process.wait_for(5), Process::Event::ended);
    EXPECT_EQ(process.finish().how, End::timed_out);
}

TEST_P(EveryLevel, ProgramWithProgressHasMoreTime) {
    Process process = begin({"stubborn"});
    int questions = 0;
    process.restart_clock(1, [&questions] { return ++questions > 0; });
    const Ended ended = process.finish();
    EXPECT_EQ(ended.how, End::timed_out);
    EXPECT_TRUE(ended.made_progress);
    EXPECT_GE(questions, 3);  // once a second, until three times the limit has passed
}

TEST_P(EveryLevel, KillEndsAllProcesses) {
    Lifeline line;
    Process process = begin({"daemon_and_spin"}, {line.for_child()});
    line.close_own_end();
    EXPECT_EQ(process.wait_for(0.3), Process::Event::elapsed);
    process.kill();
    EXPECT_TRUE(line.all_have_ended());
    EXPECT_FALSE(process.running());
    EXPECT_EQ(process.finish().how, End::signaled);
    EXPECT_EQ(process.finish().status, SIGKILL);
}

TEST_P(EveryLevel, DestructorEndsAllProcesses) {
    Lifeline line;
    {
        Process process = begin({"daemon_and_spin"}, {line.for_child()});
        line.close_own_end();
        EXPECT_EQ(process.wait_for(0.2), Process::Event::elapsed);
    }
    EXPECT_TRUE(line.all_have_ended());
}

TEST_P(EveryLevel, KillDuringTheStartLeavesNoProcess) {
    for (int microseconds = 0; microseconds < 8000; microseconds += 200) {
        Lifeline line;
        Process process = begin({"spin"}, {line.for_child()});
        line.close_own_end();
        std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
        process.kill();
        ASSERT_TRUE(line.all_have_ended()) << microseconds;
    }
}

TEST_P(EveryLevel, DaemonDoesNotOutliveItsParent) {
    Lifeline line;
    Process process = begin({"daemon"}, {line.for_child()});
    line.close_own_end();
    const Ended ended = process.finish();
    EXPECT_EQ(ended.how, End::exited);
    EXPECT_LT(ended.wall_s, 10);
    EXPECT_TRUE(line.all_have_ended());
}

TEST_P(EveryLevel, ForkBombIsLimitedAndEnds) {
    if (!sandboxed() && geteuid() == 0) GTEST_SKIP() << "the kernel does not limit the processes of root";
    Lifeline line;
    policy.limits.processes = 20;
    Process process = begin({"fork", sandboxed() ? "400" : "50"}, {line.for_child()});
    line.close_own_end();
    const Ended ended = process.finish();
    const int started = std::atoi(ended.output.c_str());
    if (sandboxed()) {
        EXPECT_LE(started, 20 + static_cast<int>(std::thread::hardware_concurrency()));
    }
    EXPECT_GE(started, 10);
    EXPECT_TRUE(line.all_have_ended());
}

TEST_P(EveryLevel, OutputFloodIsCutAndDoesNotBlock) {
    policy.limits.output_bytes = 5000;
    const Ended ended = run({"print", "100000000"});
    EXPECT_EQ(ended.how, End::exited);
    EXPECT_EQ(ended.output.size(), 5000u);
    EXPECT_EQ(ended.output_bytes, 100000000u);
}

TEST_P(EveryLevel, PrivateMemoryIsLimited) {
    policy.limits.memory_bytes = 200 << 20;
    EXPECT_THAT(run({"memory", "100000000"}).output, HasSubstr("got it all"));
    const Ended ended = run({"memory", "400000000"});
    EXPECT_NE(ended.how, End::exited);
    EXPECT_THAT(ended.output, testing::Not(HasSubstr("got it all")));
}

TEST_P(EveryLevel, LargeFileIsRefused) {
    policy.limits.file_bytes = 3 << 20;
    const fs::path folder = scratch() / "large";
    fs::create_directory(folder);
    chmod(folder.c_str(), 0777);
    policy.writable = {folder};
    const Ended ended = run({"write", (folder / "file").string(), "10000000"});
    EXPECT_EQ(ended.how, End::signaled);
    EXPECT_EQ(ended.status, SIGXFSZ);
    EXPECT_LE(fs::file_size(folder / "file"), 3u << 20);
    fs::remove_all(folder);
}

TEST_P(EveryLevel, WritableFolderIsShared) {
    const fs::path folder = scratch() / "shared";
    fs::create_directory(folder);
    chmod(folder.c_str(), 0777);
    policy.writable = {folder};
    EXPECT_EQ(run({"write", (folder / "file").string()}).status, 0);
    EXPECT_TRUE(fs::exists(folder / "file"));
    fs::remove_all(folder);
}

TEST_P(EveryLevel, PacketsAndDescriptorsReachTheProgram) {
    int ends[2], answers[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    ASSERT_EQ(pipe2(answers, O_CLOEXEC), 0);
    const int page = memfd_create("page", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(page, 4096), 0);
    ASSERT_EQ(pwrite(page, "Q", 1, 0), 1);
    policy.activity = Activity::run;
    Process process = begin({"packets"}, {ends[1], answers[1]});
    close(ends[1]);
    close(answers[1]);
    char hello[] = "hello", space[CMSG_SPACE(sizeof(int))] = {};
    iovec part{hello, sizeof hello};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &page, sizeof page);
    ASSERT_EQ(sendmsg(ends[0], &message, 0), 6);
    ASSERT_EQ(process.wait_for(10, answers[0]), Process::Event::readable);
    char back[64] = {};
    EXPECT_EQ(read(answers[0], back, sizeof back), 6);
    EXPECT_STREQ(back, "hello");
    EXPECT_EQ(process.wait_for(10, answers[0]), Process::Event::ended);
    EXPECT_EQ(process.finish().output, "Q");
    close(ends[0]);
    close(answers[0]);
    close(page);
}

TEST_P(EveryLevel, ClosedChannelOfALivingChildIsReadable) {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    Process process = begin({"close_and_wait"}, {ends[1]});
    close(ends[1]);
    EXPECT_EQ(process.wait_for(10, ends[0]), Process::Event::readable);
    char byte;
    EXPECT_EQ(recv(ends[0], &byte, 1, 0), 0);
    close(ends[0]);
}

TEST_P(EveryLevel, NoOtherDescriptorsAreInherited) {
    const int passed = open("/etc/hostname", O_RDONLY), secret = dup2(passed, 50);  // without O_CLOEXEC
    Process process = begin({"descriptors"}, {passed});
    EXPECT_EQ(process.finish().output, "0 1 2 3 ");
    close(passed);
    close(secret);
}

TEST_P(EveryLevel, EnvironmentIsCleared) {
    setenv("WARPLAB_TEST_SECRET", "42", 1);
    EXPECT_EQ(run({"environment", "WARPLAB_TEST_SECRET"}).output, "not set\n");
    EXPECT_EQ(run({"environment", "HOME"}).output, "/tmp\n");
    const auto command = std::vector<std::string>{mischief().string(), "environment", "COLOUR"};
    EXPECT_EQ(run_to_end(command, policy, {"COLOUR=blue"}).output, "blue\n");
    const std::string path = std::getenv("PATH");
    setenv("PATH", ("/opt/ada/secret-project/bin:" + path).c_str(), 1);
    const std::string visible = run({"environment", "PATH"}).output;
    EXPECT_THAT(visible, HasSubstr("/usr/bin"));
    EXPECT_EQ(visible.find("ada") != std::string::npos, !sandboxed());
    setenv("PATH", path.c_str(), 1);
}

TEST_P(EveryLevel, GivenVariablesOverrideTheCallersEnvironment) {
    setenv("WARPLAB_THREADS", "2", 1);  // as in a batch; after a race, the judge gives 1 to the program
    const auto command = std::vector<std::string>{mischief().string(), "environment", "WARPLAB_THREADS"};
    EXPECT_EQ(run_to_end(command, policy, {"WARPLAB_THREADS=1"}).output, "1\n");
    EXPECT_EQ(run_to_end(command, policy).output, "2\n");
    unsetenv("WARPLAB_THREADS");
}

TEST_P(EveryLevel, ProgramOnTheGpuSeesTheJudgesGpu) {
    setenv("CUDA_VISIBLE_DEVICES", "3", 1);
    EXPECT_EQ(run({"environment", "CUDA_VISIBLE_DEVICES"}).output, "not set\n");
    policy.gpu = true;
    EXPECT_EQ(run({"environment", "CUDA_VISIBLE_DEVICES"}).output, "3\n");
    policy.gpu_node = 3;  // the program then sees only this GPU, with number 0
    EXPECT_EQ(run({"environment", "CUDA_VISIBLE_DEVICES"}).output, sandboxed() ? "not set\n" : "3\n");
    setenv("CUDA_VISIBLE_DEVICES", "MIG-part", 1);  // a part of a GPU
    EXPECT_EQ(run({"environment", "CUDA_VISIBLE_DEVICES"}).output, "MIG-part\n");
    unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_P(EveryLevel, OnlyOneOfSeveralGpusIsVisible) {
    const int number = 1'000'000 + 2 * getpid();  // differs from that of parallel tests
    const fs::path first = "/dev/nvidia" + std::to_string(number), second = "/dev/nvidia" + std::to_string(number + 1);
    if (geteuid() != 0 || !sandboxed() || access("/dev", W_OK) != 0)
        GTEST_SKIP() << "needs a sandbox, root and a writable /dev";
    for (const auto& node : {first, second}) std::ofstream(node) << "seen";
    policy.gpu = true;
    const auto seen = [&](const fs::path& node) { return run_to_end({"cat", node.string()}, policy).output == "seen"; };
    EXPECT_TRUE(seen(first));
    EXPECT_TRUE(seen(second));
    policy.gpu_node = number;
    EXPECT_TRUE(seen(first));
    EXPECT_FALSE(seen(second));
    for (const auto& node : {first, second}) fs::remove(node);
}

TEST_P(EveryLevel, WorkingDirectoryIsSet) {
    const auto command = std::vector<std::string>{mischief().string(), "where"};
    EXPECT_EQ(run_to_end(command, policy, {}, mischief().parent_path()).output,
              mischief().parent_path().string() + "\n");
}

TEST_P(EveryLevel, ManyProgramsRunAtOnce) {
    std::vector<Process> processes;
    for (int i = 0; i < 8; ++i) processes.push_back(begin({"exit", std::to_string(i)}));
    for (int i = 0; i < 8; ++i) EXPECT_EQ(processes[static_cast<std::size_t>(i)].finish().status, i);
}

// Actions that only a sandbox prevents. They succeed at the level `none`, which shows that they are harmful.

TEST_P(EveryLevel, SecretFilesCannotBeRead) {
    const fs::path secret = scratch() / "secret";  // like course_secret's file, which only its owner can read
    std::ofstream(secret) << "the seed";
    chmod(secret.c_str(), 0600);
    const Ended ended = run({"read", secret.string()});
    EXPECT_EQ(ended.status == 0, !sandboxed()) << ended.output;
}

TEST_P(EveryLevel, UnlistedFilesCannotBeRead) {
    const fs::path solution = scratch() / "solution.cu";
    std::ofstream(solution) << "the answer";
    const Ended ended = run({"read", solution.string()});
    EXPECT_EQ(ended.status == 0, !sandboxed()) << ended.output;
    policy.readable.push_back(solution);
    EXPECT_EQ(run({"read", solution.string()}).output, "the answer\n");
}

TEST_P(EveryLevel, OtherFilesCannotBeWritten) {
    const fs::path folder = scratch() / "open";
    fs::create_directory(folder);
    chmod(folder.c_str(), 0777);
    const fs::path file = folder / "trace";
    run({"write", file.string()});
    EXPECT_EQ(fs::exists(file), !sandboxed());
    policy.readable = {mischief().parent_path(), folder};
    fs::remove(file);
    run({"write", file.string()});
    EXPECT_EQ(fs::exists(file), !sandboxed());
    fs::remove_all(folder);
}

TEST_P(EveryLevel, NetworkCannotBeReached) {
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(server, 5), 0);
    getsockname(server, reinterpret_cast<sockaddr*>(&address), &size);
    EXPECT_EQ(run({"connect", std::to_string(ntohs(address.sin_port))}).status == 0, !sandboxed());
    close(server);
}

TEST_P(EveryLevel, JudgeCannotBeReached) {
    if (!sandboxed()) GTEST_SKIP() << "needs a sandbox";
    const std::string judge = std::to_string(getpid());
    EXPECT_EQ(run({"kill", judge}).status, 1);
    EXPECT_EQ(run({"trace", judge}).status, 1);
    EXPECT_EQ(run({"read", "/proc/" + judge + "/environ"}).status, 1);
    EXPECT_EQ(run({"read", "/proc/" + judge + "/mem"}).status, 1);
}

TEST_P(EveryLevel, RootCannotBeRegained) {
    if (!sandboxed() || geteuid() != 0) GTEST_SKIP() << "needs a sandbox and root";
    EXPECT_NE(run({"who"}).output, "0");
    EXPECT_EQ(run({"become_root"}).status, 1);
}

TEST_P(EveryLevel, SocketsAndNamespacesAreRefused) {
    if (!sandboxed()) GTEST_SKIP() << "needs a sandbox";
    EXPECT_EQ(run({"socket", "stream"}).status, 1);
    EXPECT_EQ(run({"socket", "datagram"}).status, 1);
    EXPECT_EQ(run({"new_namespace"}).status, 1);
}

TEST_P(EveryLevel, PartsOfTheKernelThatNoLabNeedsAreRefused) {
    if (!sandboxed()) GTEST_SKIP() << "needs a sandbox";
    policy.activity = Activity::run;
    EXPECT_EQ(run({"kernel"}).output,
              "io_uring_setup userfaultfd bpf perf_event_open keyctl add_key ptrace process_vm_readv setns mount "
              "inotify_init1 sendmsg socketpair sched_setaffinity splice seccomp setsid pidfd_open vsock netlink");
}

TEST_P(EveryLevel, RunnerIsOneProcessWithThreads) {
    if (!sandboxed()) GTEST_SKIP() << "needs a sandbox";
    EXPECT_EQ(run({"fork_once"}).status, 0) << "a compiler starts other processes";
    policy.activity = Activity::run;
    EXPECT_EQ(run({"fork_once"}).status, 1);
    EXPECT_EQ(run({"thread"}).status, 0);
}

TEST_P(EveryLevel, ProgramsCannotDetachFromTheJudge) {
    if (!sandboxed()) GTEST_SKIP() << "needs a sandbox";
    for (const int option : {PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_MM, PR_SET_PTRACER})
        EXPECT_EQ(run({"prctl", std::to_string(option)}).output, "Function not implemented\n") << option;
    EXPECT_EQ(run({"prctl", std::to_string(PR_GET_DUMPABLE)}).status, 1) << "the call is allowed and returns 1";
}

TEST_P(EveryLevel, CrashesStartNoProgramOutsideTheSandbox) {
    if (!sandboxed()) GTEST_SKIP() << "needs a sandbox";
    for (const Activity activity : {Activity::compile, Activity::run}) {
        policy.activity = activity;
        EXPECT_EQ(run({"core_limit"}).status, 1);
    }
}

TEST_P(EveryLevel, ProgramsAreKilledFirstIfMemoryRunsOut) {
    EXPECT_EQ(run_to_end({"/bin/cat", "/proc/self/oom_score_adj"}, policy).output, "1000\n");
}

TEST_P(EveryLevel, KeyringsAreEmptyAndCannotBeUsed) {
    const std::string name = "warplab-judges-key";
    const long ring = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, "warplab-test");
    if (ring < 0) GTEST_SKIP() << "the kernel has no keyrings";
    ASSERT_GT(syscall(SYS_add_key, "user", name.c_str(), "secret", 6, KEY_SPEC_SESSION_KEYRING), 0);
    EXPECT_EQ(run({"find_key", name}).status, 1);
    if (sandboxed()) {
        EXPECT_EQ(run({"store_key", "words for the next program"}).status, 1);
    }
}

TEST_P(EveryLevel, EachProcessHasALimitOfProcessorTime) {
    policy.limits.cpu_s = 0.5;
    policy.limits.wall_s = 100;
    const Ended ended = run({"spin"});
    EXPECT_EQ(ended.how, End::signaled);
    EXPECT_EQ(ended.status, SIGKILL);
    EXPECT_GE(ended.cpu_s, policy.limits.cpu_s);
}

TEST_P(EveryLevel, AllProcessesShareTheBudget) {
    policy.budget = std::make_shared<Budget>(100, 0.5);
    Ended ended;
    for (int i = 0; i < 20 && ended.how != End::budget_spent; ++i) {
        policy.limits.wall_s = 0.2;
        ended = run({"spin"});
    }
    EXPECT_EQ(ended.how, End::budget_spent);
    EXPECT_TRUE(policy.budget->spent());
}

TEST_P(EveryLevel, BudgetAlsoCountsWaiting) {
    policy.budget = std::make_shared<Budget>(0.5, 100);
    EXPECT_EQ(run({"stubborn"}).how, End::budget_spent);
    EXPECT_EQ(run({"exit", "0"}).how, End::budget_spent);
}

TEST_P(EveryLevel, NobodyCanConnectToTheDriversSocket) {
    if (GetParam() != SandboxLevel::uid) GTEST_SKIP() << "tests only the level uid";
    policy.activity = Activity::run;
    policy.gpu = true;
    EXPECT_EQ(run({"drivers_socket", "warplab-test"}).status, 0);
    const int server = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path + 1, "warplab-test-server", sizeof address.sun_path - 2);
    ASSERT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(server, 5), 0);
    EXPECT_EQ(run({"connect_to", "warplab-test-server"}).status, 1);
    close(server);
}

TEST_P(EveryLevel, ControlGroupsLimitSharedMemory) {
    if (!sandboxed() || access("/sys/fs/cgroup/memory/cgroup.procs", W_OK) != 0)
        GTEST_SKIP() << "needs a sandbox and a writable memory control group";
    policy.limits.memory_bytes = 64 << 20;
    EXPECT_EQ(run({"shared_memory", "200000000"}).how, End::out_of_memory);
}

/// Return this process's group in the hierarchy of version 1 that limits memory.
std::filesystem::path memory_group() {
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);)
        if (const std::size_t at = line.find(":memory:"); at != std::string::npos)
            return "/sys/fs/cgroup/memory" + line.substr(at + std::strlen(":memory:"));
    return "/";
}

TEST_P(EveryLevel, ControlGroupsOfAnotherJudgeDoNotLiftLimits) {
    const std::filesystem::path groups = memory_group();
    if (!sandboxed() || access((groups / "cgroup.procs").c_str(), W_OK) != 0)
        GTEST_SKIP() << "needs a sandbox and a writable memory control group";
    const auto left_behind = [&](int i) { return groups / fmt::format("warplab-{}-{}", getpid(), i); };
    constexpr int many = 2000;  // more than this program makes
    for (int i = 1; i <= many; ++i) std::filesystem::create_directory(left_behind(i));
    policy.limits.memory_bytes = 64 << 20;
    EXPECT_EQ(run({"shared_memory", "200000000"}).how, End::out_of_memory);
    for (int i = 1; i <= many; ++i) rmdir(left_behind(i).c_str());
}

TEST_P(EveryLevel, TwoSandboxesHaveDifferentUsers) {
    if (!sandboxed() || geteuid() != 0) GTEST_SKIP() << "needs a sandbox and root";
    Lifeline line;
    Process first = begin({"spin"}, {line.for_child()});
    line.close_own_end();
    const Ended second = run({"who"});
    EXPECT_EQ(first.wait_for(0.05), Process::Event::elapsed) << "ending the second must not end the first";
    first.kill();
    EXPECT_TRUE(line.all_have_ended());
    EXPECT_GT(std::atoi(second.output.c_str()), 60000);
}

/// Print the overhead of a sandbox: build/tests --gtest_also_run_disabled_tests --gtest_filter='*SandboxCost*'
TEST(SandboxCost, DISABLED_PrintsMillisecondsPerStart) {
    std::map<SandboxLevel, std::vector<double>> start_ms;
    for (int i = 0; i < 50; ++i)
        for (const SandboxLevel level : {SandboxLevel::none, SandboxLevel::uid, SandboxLevel::namespaces}) {
            if (!offered(level)) continue;
            Policy policy;
            policy.level = level;
            policy.activity = Activity::run;
            const auto begin = std::chrono::steady_clock::now();
            ASSERT_EQ(run_to_end({"/bin/true"}, policy).status, 0);
            start_ms[level].push_back(
                std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        }
    for (auto& [level, times] : start_ms) {
        std::sort(times.begin(), times.end());
        std::printf("%-9s %5.1f ms\n", std::string(sandbox_name(level)).c_str(), times[times.size() / 2]);
    }
}

}  // namespace
}  // namespace warplab
