#include "grader/judge/sandbox/seccomp.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/prctl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "grader/common/descriptor.h"

namespace warplab::sandbox {
namespace {

// Names of system calls, separated by spaces. Each list omits calls that let a program wait in the kernel for others,
// communicate with others, outlive its judge, or reach parts of the kernel that no lab needs. Names that this processor
// or libseccomp does not have are skipped.

constexpr auto memory_calls =
    "mmap mmap2 munmap mprotect mremap madvise brk msync mincore mlock mlock2 munlock mlockall munlockall "
    "membarrier memfd_create get_mempolicy set_mempolicy mbind pkey_alloc pkey_free pkey_mprotect";

// The list contains no call that evicts files from the page cache, shows which of their pages are cached, locks files,
// or sets their times: any program on the machine can observe these effects, so a program that reads hidden data could
// use them to send the data to a later program. (/dev/null is the machine's, and any user may set its times.) The
// list has no truncate() because Landlock does not refuse this call before Linux 6.2.
constexpr auto file_calls =
    "read write readv writev pread64 pwrite64 preadv pwritev open openat openat2 creat close "
    "close_range dup dup2 dup3 lseek _llseek stat fstat lstat newfstatat statx statfs fstatfs "
    "access faccessat faccessat2 readlink readlinkat getdents getdents64 getcwd chdir fchdir rename renameat "
    "renameat2 unlink unlinkat mkdir mkdirat rmdir ftruncate fsync fdatasync chmod fchmod fchmodat "
    "umask pipe pipe2 poll ppoll select pselect6 eventfd eventfd2 epoll_create epoll_create1 epoll_ctl epoll_wait "
    "epoll_pwait epoll_pwait2 timerfd_create timerfd_settime timerfd_gettime";

constexpr auto time_calls =
    "nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times getitimer setitimer alarm pause";

constexpr auto signal_calls =
    "rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack "
    "restart_syscall";

// setpriv, which bubblewrap executes, needs the last four; without capabilities they change nothing.
constexpr auto process_calls =
    "execve exit exit_group getpid getppid gettid getpgrp getpgid getsid getuid geteuid getgid getegid "
    "getgroups getresuid getresgid getrusage getrlimit sysinfo uname getcpu sched_yield "
    "wait4 waitid futex futex_waitv set_tid_address set_robust_list get_robust_list rseq arch_prctl getrandom "
    "capget sched_getaffinity sched_getparam sched_getscheduler sched_getattr sched_get_priority_max "
    "sched_get_priority_min getpriority setresuid setresgid setgroups capset";

constexpr auto gpu_calls = "bind listen getsockname getsockopt setsockopt";

/// Options of prctl that neither detach the program from the judge nor change system calls or instructions.
constexpr std::initializer_list<int> prctl_options = {
    PR_SET_NAME,         PR_GET_NAME,         PR_GET_DUMPABLE,   PR_SET_DUMPABLE,   PR_GET_KEEPCAPS, PR_SET_KEEPCAPS,
    PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_CAPBSET_READ,   PR_CAPBSET_DROP,   PR_CAP_AMBIENT,
    PR_GET_SECUREBITS,   PR_SET_SECUREBITS,   PR_SET_TIMERSLACK, PR_GET_TIMERSLACK, PR_SET_THP_DISABLE,
    PR_GET_THP_DISABLE,  PR_GET_SECCOMP,      0x53564d41 /* PR_SET_VMA, newer than some headers: names of memory */};

/// Commands of fcntl that affect only the caller: no signals about other processes' accesses, no locks, no leases, no
/// pipe sizes.
constexpr std::initializer_list<int> fcntl_commands = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD,     F_SETFD,    F_GETFL,
                                                       F_SETFL, F_GETPIPE_SZ,    F_ADD_SEALS, F_GET_SEALS};

/// Calls that send a signal, and the position of the signal's number among their arguments. SIGCONT is not allowed,
/// because a program could use it to continue while the judge has stopped it. For the same reason, no list has a call
/// that creates a timer with a signal of the program's choice.
struct SignalCall {
    const char* name;
    unsigned argument;
};
constexpr std::initializer_list<SignalCall> sending_calls = {{"kill", 1}, {"tkill", 1}, {"tgkill", 2}};

/// Resources whose limits a program may change: all but RLIMIT_CORE. If a program lowered RLIMIT_CORE to 0 and crashed,
/// the kernel would start the machine's program for core dumps (limits.cpp).
constexpr std::initializer_list<int> changeable_limits = {
    RLIMIT_AS,      RLIMIT_CPU,      RLIMIT_DATA,   RLIMIT_FSIZE,      RLIMIT_LOCKS,
    RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE, RLIMIT_NICE,   RLIMIT_RSS,        RLIMIT_NOFILE,
    RLIMIT_NPROC,   RLIMIT_RTPRIO,   RLIMIT_RTTIME, RLIMIT_SIGPENDING, RLIMIT_STACK};

/// Requests of isatty() and similar functions.
constexpr std::initializer_list<unsigned> terminal_requests = {TCGETS, TIOCGWINSZ, FIONREAD, FIOCLEX, FIONCLEX};

/// Requests to the GPU's driver, by some of their bytes. Requests to nvidiactl and nvidiaN have the type 'F', those to
/// WSL's dxg the type 'G'. Those to nvidia-uvm are small numbers or begin with 0x300000.
struct DriverRequests {
    std::uint64_t mask, value;
};
constexpr std::initializer_list<DriverRequests> driver_requests = {
    {0xff00, 'F' << 8}, {0xff00, 'G' << 8}, {0xffffff00, 0}, {0xffffff00, 0x30000000}};

constexpr unsigned namespace_flags =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

void require(int result, const char* doing) {
    if (result < 0)
        throw std::runtime_error(fmt::format("the filter of system calls: {}: {}", doing, std::strerror(-result)));
}

class Builder {
  public:
    Builder() : context_(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), seccomp_release) {
        if (!context_) throw std::runtime_error("the filter of system calls cannot be built on this processor");
        require(seccomp_attr_set(get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
                "refusing other architectures");
        seccomp_attr_set(get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a binary tree, if libseccomp is 2.5 or newer
    }

    void allow(const std::string& names) { add_all(SCMP_ACT_ALLOW, names); }
    void allow(const char* name, std::initializer_list<scmp_arg_cmp> arguments) {
        add(SCMP_ACT_ALLOW, name, arguments);
    }
    void refuse(const std::string& names) { add_all(SCMP_ACT_ERRNO(EPERM), names); }

    SeccompFilter build() const {
        const Descriptor file(memfd_create("filter", MFD_CLOEXEC));
        if (!file) throw std::runtime_error(fmt::format("cannot create a memory file: {}", std::strerror(errno)));
        require(seccomp_export_bpf(get(), file.get()), "exporting the filter");
        const off_t bytes = lseek(file.get(), 0, SEEK_END);
        SeccompFilter code(static_cast<std::size_t>(bytes) / sizeof(sock_filter));
        const ssize_t count = pread(file.get(), code.data(), static_cast<std::size_t>(bytes), 0);
        if (count != bytes || code.empty()) throw std::runtime_error("the filter of system calls cannot be read back");
        return code;
    }

  private:
    scmp_filter_ctx get() const { return context_.get(); }

    void add_all(std::uint32_t action, const std::string& names) {
        std::istringstream words(names);
        for (std::string name; words >> name;) add(action, name.c_str(), {});
    }

    void add(std::uint32_t action, const char* name, std::initializer_list<scmp_arg_cmp> arguments) {
        const int number = seccomp_syscall_resolve_name(name);
        if (number == __NR_SCMP_ERROR) return;
        require(
            seccomp_rule_add_array(get(), action, number, static_cast<unsigned>(arguments.size()), arguments.begin()),
            name);
    }

    std::unique_ptr<void, decltype(&seccomp_release)> context_;
};

void allow_common(Builder& filter) {
    for (const char* names : {memory_calls, file_calls, time_calls, signal_calls, process_calls}) filter.allow(names);
    for (const int option : prctl_options)
        filter.allow("prctl", {SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(option))});
    for (const int command : fcntl_commands)
        filter.allow("fcntl", {SCMP_A1(SCMP_CMP_EQ, static_cast<scmp_datum_t>(command))});
    for (const int resource : changeable_limits) {
        filter.allow("setrlimit", {SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(resource))});
        filter.allow("prlimit64", {SCMP_A1(SCMP_CMP_EQ, static_cast<scmp_datum_t>(resource))});
    }
    filter.allow("prlimit64", {SCMP_A2(SCMP_CMP_EQ, 0)});  // only reads
    for (const auto& [name, argument] : sending_calls)
        for (int signal = 0; signal < NSIG; ++signal)
            if (signal != SIGCONT)
                filter.allow(name, {SCMP_CMP(argument, SCMP_CMP_EQ, static_cast<scmp_datum_t>(signal))});
    constexpr unsigned flags = 5;  // RWF_NOWAIT reveals which pages are in the page cache
    for (const char* name : {"preadv2", "pwritev2"}) filter.allow(name, {SCMP_CMP32(flags, SCMP_CMP_EQ, 0)});
}

void allow_compiling(Builder& filter) {
    filter.allow("fork vfork");
    filter.allow("clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, namespace_flags, 0)});  // without clone3, callers use clone
}

void allow_running(Builder& filter, bool gpu) {
    filter.allow("clone", {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | namespace_flags, CLONE_THREAD)});
    filter.refuse("fork vfork");
    filter.allow("recvmsg");  // requests
    if (!gpu) return;
    filter.allow(gpu_calls);
    for (const auto& [mask, value] : driver_requests) filter.allow("ioctl", {SCMP_A1(SCMP_CMP_MASKED_EQ, mask, value)});
    // The driver makes a socket for every context and listens on it. No process can connect to it or send on it.
    constexpr unsigned without_flags = 0xf;
    filter.allow("socket", {SCMP_A0(SCMP_CMP_EQ, AF_UNIX), SCMP_A1(SCMP_CMP_MASKED_EQ, without_flags, SOCK_SEQPACKET)});
}

SeccompFilter build(Activity activity, bool gpu) {
    Builder filter;
    allow_common(filter);
    if (activity == Activity::compile)
        allow_compiling(filter);
    else
        allow_running(filter, gpu);
    for (const unsigned request : terminal_requests) filter.allow("ioctl", {SCMP_A1(SCMP_CMP_EQ, request)});
    return filter.build();
}

}  // namespace

const SeccompFilter& seccomp_filter(Activity activity, bool gpu) {
    static std::mutex mutex;
    static std::map<std::pair<Activity, bool>, SeccompFilter> built;
    const std::lock_guard lock(mutex);
    auto [place, is_new] = built.try_emplace({activity, gpu});
    if (is_new) place->second = build(activity, gpu);
    return place->second;
}

}  // namespace warplab::sandbox
