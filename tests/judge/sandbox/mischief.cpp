// Does what hostile or broken programs do, one action per run; process_test runs it at every sandbox level. Each action
// is limited, so that a failing sandbox does no harm to the machine that runs the tests.

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

/// Return the exit status: 0 if the call worked; if not, print the error and return 1.
int worked(bool yes) {
    if (!yes) std::printf("%s\n", std::strerror(errno));
    return yes ? 0 : 1;
}

int sleep_stubbornly() {
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (int i = 0; i < 20; ++i) sleep(1);
    return worked(write(3, "x", 1) == 1);  // still running
}

/// Leave a process behind that no longer belongs to this session or parent. It keeps descriptor 3 open.
int leave_daemon() {
    if (fork() == 0) {
        setsid();
        if (fork() == 0) _exit(sleep_stubbornly());
        _exit(0);
    }
    wait(nullptr);
    return 0;
}

/// Start up to `count` processes and print their number. They keep descriptor 3 open and end by themselves.
int fork_many(int count) {
    int started = 0;
    for (; started < count; ++started) {
        const pid_t child = fork();
        if (child == 0) {
            sleep(5);
            _exit(0);
        }
        if (child < 0) break;
    }
    std::printf("%d\n", started);
    return 0;
}

int print_much(long long bytes) {
    const std::string line(999, 'x');
    for (long long printed = 0; printed < bytes; printed += 1000) std::puts(line.c_str());
    return 0;
}

int use_memory(std::size_t bytes) {
    volatile char* memory = static_cast<char*>(std::malloc(bytes));
    if (!memory) {
        std::puts("malloc returned null");
        std::abort();
    }
    for (std::size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
    std::puts("got it all");
    return 0;
}

int use_shared_memory(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return worked(false);
    std::memset(memory, 1, bytes);
    std::puts("got it all");
    return 0;
}

int read_file(const char* path) {
    char text[64] = {};
    const int file = open(path, O_RDONLY);
    if (file < 0 || read(file, text, sizeof text - 1) < 0) return worked(false);
    std::puts(text);
    return 0;
}

int write_file(const char* path, long long bytes) {
    const int file = open(path, O_WRONLY | O_CREAT, 0644);
    if (file < 0) return worked(false);
    static char block[1 << 20];
    for (long long written = 0; written < bytes; written += static_cast<long long>(sizeof block))
        if (write(file, block, sizeof block) < 0) return worked(false);
    return 0;
}

int reach_network(int port) {
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(static_cast<unsigned short>(port));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return worked(connection >= 0 && connect(connection, reinterpret_cast<sockaddr*>(&server), sizeof server) == 0);
}

sockaddr_un abstract_address(const char* name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path + 1, name, sizeof address.sun_path - 2);
    return address;
}

/// Listen on the kind of socket that the GPU's driver opens for each context. No other program may reach it.
int listen_as_the_driver(const char* name) {
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const sockaddr_un address = abstract_address(name);
    if (bind(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(connection, 128) != 0)
        return worked(false);
    return accept(connection, nullptr, nullptr) < 0 && errno == ENOSYS ? 0 : 2;
}

int connect_to(const char* name) {
    const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const sockaddr_un server = abstract_address(name);
    return worked(connect(connection, reinterpret_cast<const sockaddr*>(&server), sizeof server) == 0);
}

int list_descriptors() {
    DIR* folder = opendir("/proc/self/fd");
    if (!folder) return worked(false);
    while (const dirent* entry = readdir(folder))
        if (const int number = std::atoi(entry->d_name); entry->d_name[0] != '.' && number != dirfd(folder))
            std::printf("%d ", number);
    return 0;
}

/// Copy a packet from descriptor 3 to 4. If it came with a file's descriptor, print the file's first byte.
int answer_packet() {
    char byte[64], space[CMSG_SPACE(sizeof(int))];
    iovec part{byte, sizeof byte};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    const ssize_t received = recvmsg(3, &message, 0);
    if (received < 0) return worked(false);
    if (const cmsghdr* header = CMSG_FIRSTHDR(&message)) {
        int descriptor;
        std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
        void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (memory == MAP_FAILED) return worked(false);
        std::printf("%c", *static_cast<char*>(memory));
    }
    return worked(write(4, byte, static_cast<std::size_t>(received)) == received);
}

int store_key(const char* words) {
    const long key = syscall(SYS_add_key, "user", "warplab-test", words, std::strlen(words), KEY_SPEC_USER_KEYRING);
    if (key < 0) return worked(false);
    syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f3f3f3f);
    return 0;
}

/// Look for a key with this name in the keyrings that the starting program may have left.
int find_key(const char* name) {
    return worked(syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", name, 0) >= 0);
}

/// Try to change the size limit of core dumps to 0. Only the limit 1 prevents the kernel from starting the machine's
/// program for core dumps, outside the sandbox.
int change_core_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_CORE, &limit);
    if (limit.rlim_max > 1) return worked(true);
    const rlimit none{0, 0};
    return worked(setrlimit(RLIMIT_CORE, &none) == 0 || syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, nullptr) == 0 ||
                  syscall(SYS_prlimit64, 0, 1L << 32 | RLIMIT_CORE, &none, nullptr) == 0);
}

/// Call prctl with an option that might detach the process from its judge or mislead the sandbox.
int ask_prctl(int option) { return worked(prctl(option, 0, 0, 0, 0) == 0); }

int start_thread() {
    bool ran = false;
    std::thread([&] { ran = true; }).join();
    return worked(ran);
}

/// Make system calls that no lab needs, and print those that are refused.
int make_unneeded_calls() {
    const struct {
        const char* name;
        long number;
    } calls[] = {{"io_uring_setup", SYS_io_uring_setup},
                 {"userfaultfd", SYS_userfaultfd},
                 {"bpf", SYS_bpf},
                 {"perf_event_open", SYS_perf_event_open},
                 {"keyctl", SYS_keyctl},
                 {"add_key", SYS_add_key},
                 {"ptrace", SYS_ptrace},
                 {"process_vm_readv", SYS_process_vm_readv},
                 {"setns", SYS_setns},
                 {"mount", SYS_mount},
                 {"inotify_init1", SYS_inotify_init1},
                 {"sendmsg", SYS_sendmsg},
                 {"socketpair", SYS_socketpair},
                 {"sched_setaffinity", SYS_sched_setaffinity},
                 {"splice", SYS_splice},
                 {"seccomp", SYS_seccomp},
                 {"setsid", SYS_setsid},
                 {"pidfd_open", SYS_pidfd_open}};
    for (const auto& call : calls)
        if (syscall(call.number, -1, -1, -1, -1, -1, -1) < 0 && (errno == ENOSYS || errno == EPERM))
            std::printf("%s ", call.name);
    if (socket(40 /* AF_VSOCK */, SOCK_STREAM, 0) < 0) std::printf("vsock ");
    if (socket(AF_NETLINK, SOCK_RAW, 0) < 0) std::printf("netlink");
    return 0;
}

int spin() {
    for (volatile long i = 0;; i = i + 1) {
    }
}

}  // namespace

int main(int count, char** words) {
    setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
    const std::string action = count > 1 ? words[1] : "";
    const char* word = count > 2 ? words[2] : "";
    const long long number = std::atoll(word);
    if (action == "exit") return static_cast<int>(number);
    if (action == "raise") return raise(static_cast<int>(number));
    if (action == "spin") return spin();
    if (action == "stubborn") return sleep_stubbornly();
    if (action == "daemon") return leave_daemon();
    if (action == "daemon_and_spin") return leave_daemon(), spin();
    if (action == "fork") return fork_many(static_cast<int>(number));
    if (action == "print") return print_much(number);
    if (action == "memory") return use_memory(static_cast<std::size_t>(number));
    if (action == "shared_memory") return use_shared_memory(static_cast<std::size_t>(number));
    if (action == "read") return read_file(word);
    if (action == "write") return write_file(word, count > 3 ? std::atoll(words[3]) : 1);
    if (action == "connect") return reach_network(static_cast<int>(number));
    if (action == "socket") return worked(socket(AF_UNIX, word[0] == 'd' ? SOCK_DGRAM : SOCK_STREAM, 0) >= 0);
    if (action == "drivers_socket") return listen_as_the_driver(word);
    if (action == "connect_to") return connect_to(word);
    if (action == "kill") return worked(::kill(static_cast<pid_t>(number), 0) == 0);
    if (action == "trace") return worked(ptrace(PTRACE_ATTACH, static_cast<pid_t>(number), nullptr, nullptr) == 0);
    if (action == "new_namespace") return worked(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0);
    if (action == "become_root") return worked(setuid(0) == 0);
    if (action == "who") return std::printf("%u", getuid()), 0;
    if (action == "environment") return worked((std::puts(std::getenv(word) ? std::getenv(word) : "not set"), true));
    if (action == "descriptors") return list_descriptors();
    if (action == "packets") return answer_packet();
    if (action == "store_key") return store_key(word);
    if (action == "find_key") return find_key(word);
    if (action == "core_limit") return change_core_limit();
    if (action == "prctl") return ask_prctl(static_cast<int>(number));
    if (action == "thread") return start_thread();
    if (action == "fork_once") return worked(fork() >= 0);
    if (action == "kernel") return make_unneeded_calls();
    if (action == "close_and_wait") return close(3), sleep_stubbornly();
    if (action == "where") return std::puts(getcwd(nullptr, 0)), 0;
    return 99;
}
