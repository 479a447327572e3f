#include "grader/judge/sandbox/launch.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "grader/judge/sandbox/landlock.h"

namespace warplab::sandbox {
namespace {

struct Child {
    const Launch& program;
    sock_fprog filter{};
    std::vector<int> descriptors;  // copies, with numbers above those that the program gets
    std::vector<char*> argv, environment;
    pid_t parent = getpid();
    const char* failed_step = nullptr;  // written by the child, read by the judge: the memory is shared until exec
    int error = 0;
};

[[noreturn]] void fail(Child& child, const char* step) {
    child.error = errno;
    child.failed_step = step;
    _exit(127);
}

void require(Child& child, bool succeeded, const char* step) {
    if (!succeeded) fail(child, step);
}

/// If the machine runs out of memory, let the kernel kill this process before others, such as the judge. A program can
/// undo this unless the judge has CAP_SYS_RESOURCE.
void be_killed_first() {
    const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) (void)!write(file, "1000", 4);
}

void reset_signals() {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
}

void close_from(unsigned first) {
    if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
    const long open_max = sysconf(_SC_OPEN_MAX);
    for (long number = first; number < open_max && number < 65536; ++number) close(static_cast<int>(number));
}

void place_descriptors(Child& child) {
    int target = 0;
    for (int source : child.descriptors) require(child, dup2(source, target++) >= 0, "passing a descriptor");
}

void set_limits(Child& child) {
    for (const auto& [resource, value] : child.program.limits) {
        rlimit limit{value, value};
        if (setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0) continue;
        // A stricter hard limit already exists: keep it.
        require(child, getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0, "reading a limit");
        limit.rlim_cur = limit.rlim_max;
        require(child, setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0, "setting a limit");
    }
}

/// Become this user and group, by direct system calls: glibc's setresuid would change the judge's other threads, too.
void become(Child& child, uid_t uid) {
    require(child, syscall(SYS_setgroups, 0, nullptr) == 0, "dropping groups");
    require(child, syscall(SYS_setresgid, uid, uid, uid) == 0, "changing the group");
    require(child, syscall(SYS_setresuid, uid, uid, uid) == 0, "changing the user");
}

/// Join an empty session keyring: keyrings hold credentials such as Kerberos tickets and outlive processes. If the
/// kernel or a container refuses keyrings to the judge, it refuses them to the child, too.
void join_empty_keyring(Child& child) {
    const bool joined = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) >= 0;
    require(child, joined || errno == ENOSYS || errno == EPERM || errno == EACCES, "joining an empty keyring");
}

void enter_landlock(Child& child) {
    const Launch& program = child.program;
    if (program.own_proc_access) {
        const int own_entry = open("/proc/self", O_PATH | O_CLOEXEC);
        require(child, own_entry >= 0 && allow_below(program.landlock, own_entry, program.own_proc_access),
                "allowing its own /proc entry");
    }
    require(child, syscall(SYS_landlock_restrict_self, program.landlock, 0) == 0, "entering the Landlock ruleset");
}

int run_child(void* argument) {
    Child& child = *static_cast<Child*>(argument);
    const Launch& program = child.program;
    reset_signals();
    setsid();
    umask(022);
    be_killed_first();
    join_empty_keyring(child);
    for (int file : program.cgroup_files) require(child, write(file, "0", 1) == 1, "joining the cgroup");
    if (!program.working_directory.empty())
        require(child, chdir(program.working_directory.c_str()) == 0, "entering the working directory");
    set_limits(child);
    if (program.uid) become(child, *program.uid);
    require(child, prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "setting the signal for the judge's end");
    if (getppid() != child.parent) _exit(127);
    if (program.no_new_privileges) require(child, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "setting no_new_privs");
    if (program.landlock >= 0) enter_landlock(child);
    place_descriptors(child);
    close_from(static_cast<unsigned>(child.descriptors.size()));
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (program.filter)
        require(child, prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &child.filter, 0, 0) == 0,
                "installing the seccomp filter");
    execve(child.argv[0], child.argv.data(), child.environment.data());
    fail(child, "starting the program");
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> result;
    for (const auto& word : words) result.push_back(const_cast<char*>(word.c_str()));
    result.push_back(nullptr);
    return result;
}

/// Duplicate the descriptors to numbers that the child's dup2 calls do not overwrite. Return whether this succeeds.
bool duplicate(const std::vector<int>& from, std::vector<int>& to) {
    for (int number : from) {
        const int copy = fcntl(number, F_DUPFD_CLOEXEC, 3 + static_cast<int>(from.size()));
        if (copy < 0) return false;
        to.push_back(copy);
    }
    return true;
}

}  // namespace

pid_t launch(const Launch& program, std::string& start_error) {
    Child child{program, {}, {}, pointers(program.argv), pointers(program.environment)};
    if (program.filter)
        child.filter = {static_cast<unsigned short>(program.filter->size()),
                        const_cast<sock_filter*>(program.filter->data())};
    const bool duplicated = duplicate(program.descriptors, child.descriptors);
    constexpr std::size_t stack_bytes = 256 << 10;
    void* stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pid_t pid = -1;
    if (duplicated && stack != MAP_FAILED) {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of the judge may run in the child
        pid = clone(run_child, static_cast<char*>(stack) + stack_bytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
        if (pid < 0) child.error = errno;
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    } else {
        child.error = errno;
    }
    if (stack != MAP_FAILED) munmap(stack, stack_bytes);
    for (int copy : child.descriptors) close(copy);
    if (pid > 0 && !child.failed_step) return pid;
    if (pid > 0) {
        int status;
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    start_error = program.argv[0] + ": " + (child.failed_step ? child.failed_step : "creating a process") + ": " +
                  std::strerror(child.error);
    return -1;
}

}  // namespace warplab::sandbox
