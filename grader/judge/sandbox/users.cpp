#include "grader/judge/sandbox/users.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "grader/common/descriptor.h"

namespace warplab::sandbox {
namespace {

// systemd's list of user ids leaves 60706 to 61183 unused.
constexpr uid_t first_user = 60706, last_user = 61183;

constexpr const char* lock_folder = "/run/warplab";

/// Return a descriptor that holds the lock; none if another process holds it.
Descriptor lock_user(uid_t id) {
    const std::string path = fmt::format("{}/user-{}", lock_folder, id);
    const bool has_folder = mkdir(lock_folder, 0700) == 0 || errno == EEXIST;
    Descriptor file(has_folder ? open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600) : -1);
    if (!file)
        throw std::runtime_error(fmt::format(
            "cannot create {}, which prevents two sandboxes from using the same user: {}; make /run writable", path,
            std::strerror(errno)));
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) file.reset();
    return file;
}

/// Become the user `id` permanently and kill all of the user's processes with one call, so that none can escape by
/// forking. Runs in a separate process. All three ids must have changed: with a real id of root, kill(-1) would reach
/// every process.
[[noreturn]] void become_and_kill(uid_t id) noexcept {
    if (syscall(SYS_setgroups, 0, nullptr) != 0 || syscall(SYS_setresgid, id, id, id) != 0 ||
        syscall(SYS_setresuid, id, id, id) != 0)
        _exit(1);
    uid_t real = 0, effective = 0, saved = 0;
    getresuid(&real, &effective, &saved);
    if (real != id || effective != id || saved != id || id < first_user || id > last_user) _exit(1);
    ::kill(-1, SIGKILL);
    _exit(0);
}

void kill_processes_of(uid_t id) {
    const pid_t killer = fork();
    if (killer == 0) become_and_kill(id);
    int status;
    while (killer > 0 && waitpid(killer, &status, 0) < 0 && errno == EINTR) {
    }
}

/// Return the sandboxes' user ids under which processes run.
std::set<uid_t> busy_users() {
    std::set<uid_t> users;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        struct stat process {};
        if (stat(entry.path().c_str(), &process) == 0 && process.st_uid >= first_user && process.st_uid <= last_user)
            users.insert(process.st_uid);
    }
    return users;
}

void kill_abandoned_processes() {
    for (const uid_t user : busy_users())
        if (const Descriptor lock = lock_user(user); lock) kill_processes_of(user);
}

/// Wait until the judge has ended for any reason, then kill the processes of users that no living judge holds. Runs in
/// a separate process. No exception may leave this function, because the judge's code would then continue in this
/// process.
[[noreturn]] void run_keeper(int judges_end, pid_t judge) noexcept {
    setsid();
    if (judges_end != 3) dup2(judges_end, 3);
    syscall(SYS_close_range, 4, ~0u, 0);
    for (int number : {0, 1, 2}) close(number);
    char byte;
    while (read(3, &byte, 1) < 0 && errno == EINTR) {
    }
    while (getppid() == judge) usleep(1000);  // an ending judge may close the pipe before it unlocks its users
    try {
        kill_abandoned_processes();
    } catch (const std::exception&) {
        _exit(1);
    }
    _exit(0);
}

/// Start the keeper. A killed judge cannot kill its children, and the kernel kills only a compiler's first process.
void start_keeper() {
    static std::once_flag once;
    std::call_once(once, [] {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) return;
        const pid_t judge = getpid();
        if (fork() == 0) run_keeper(ends[0], judge);
        close(ends[0]);  // the other end closes with the judge
    });
}

}  // namespace

UnusedUser UnusedUser::take(int slot) {
    start_keeper();
    constexpr int count = last_user - first_user + 1;
    for (int i = 0; i < count; ++i) {
        const uid_t id = first_user + static_cast<uid_t>((slot + i) % count);
        if (Descriptor lock = lock_user(id); lock) return UnusedUser(id, std::move(lock));
    }
    throw std::runtime_error("all user ids for sandboxes are in use; wait until other judges on this machine end");
}

void UnusedUser::kill_all() const { kill_processes_of(id_); }

}  // namespace warplab::sandbox
