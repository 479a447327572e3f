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
#include <stdexcept>
#include <string>
#include <utility>

namespace warplab::sandbox {
namespace {

// systemd's list of user ids leaves 60706 to 61183 unused.
constexpr uid_t first_user = 60706, last_user = 61183;

/// A descriptor that holds the lock; -1 when somebody else does.
int lock_user(uid_t id) {
    const char* folder = "/run/warplab";
    mkdir(folder, 0700);
    const std::string path = fmt::format("{}/user-{}", folder, id);
    const int file = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        throw std::runtime_error(
            fmt::format("cannot make {}, which keeps a sandbox's user from being used twice: {}; make /run writable",
                        path, std::strerror(errno)));
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return file;
    close(file);
    return -1;
}

/// Kills every process of a user and ends. As that user, kill(-1) reaches exactly its processes, at once, so that none
/// can fork away. All three ids must have changed: with a real id of root it would reach everybody's.
[[noreturn]] void kill_as(uid_t id) {
    if (syscall(SYS_setgroups, 0, nullptr) != 0 || syscall(SYS_setresgid, id, id, id) != 0 ||
        syscall(SYS_setresuid, id, id, id) != 0)
        _exit(1);
    uid_t real = 0, effective = 0, saved = 0;
    getresuid(&real, &effective, &saved);
    if (real != id || effective != id || saved != id || id < first_user || id > last_user) _exit(1);
    ::kill(-1, SIGKILL);
    _exit(0);
}

/// The guard holds nothing else: no lock, no pipe of another guard's, no terminal.
[[noreturn]] void guard_user(uid_t id, int released) {
    setsid();
    if (dup2(released, 0) != 0 || syscall(SYS_close_range, 1u, ~0u, 0) != 0) _exit(1);
    char byte;
    while (read(0, &byte, 1) < 0 && errno == EINTR) {
    }
    kill_as(id);
}

void wait_for(pid_t child) {
    int status;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

UnusedUser UnusedUser::take(int slot) {
    constexpr int count = last_user - first_user + 1;
    for (int i = 0; i < count; ++i) {
        const uid_t id = first_user + static_cast<uid_t>((slot + i) % count);
        if (const int lock = lock_user(id); lock >= 0) return UnusedUser(id, lock);
    }
    throw std::runtime_error("all user ids for sandboxes are taken");
}

UnusedUser::UnusedUser(UnusedUser&& other) noexcept : id_(other.id_), lock_(-1) { *this = std::move(other); }

UnusedUser& UnusedUser::operator=(UnusedUser&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(lock_, other.lock_);
    std::swap(held_by_the_judge_, other.held_by_the_judge_);
    std::swap(guard_, other.guard_);
    return *this;
}

UnusedUser::~UnusedUser() {
    if (held_by_the_judge_ >= 0) close(held_by_the_judge_);
    wait_for(guard_);
    if (lock_ >= 0) close(lock_);
}

void UnusedUser::kill_all() const {
    const pid_t killer = fork();
    if (killer == 0) kill_as(id_);
    wait_for(killer);
}

void UnusedUser::kill_all_with_the_judge() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("cannot make a pipe: {}", strerror(errno)));
    guard_ = fork();
    if (guard_ == 0) guard_user(id_, ends[0]);
    close(ends[0]);
    held_by_the_judge_ = ends[1];
    if (guard_ < 0) throw std::runtime_error(fmt::format("cannot make a process: {}", strerror(errno)));
}

}  // namespace warplab::sandbox
