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

}  // namespace

UnusedUser UnusedUser::take(int slot) {
    constexpr int count = last_user - first_user + 1;
    for (int i = 0; i < count; ++i) {
        const uid_t id = first_user + static_cast<uid_t>((slot + i) % count);
        if (const int lock = lock_user(id); lock >= 0) return UnusedUser(id, lock);
    }
    throw std::runtime_error("all user ids for sandboxes are taken");
}

UnusedUser::UnusedUser(UnusedUser&& other) noexcept : id_(other.id_), lock_(other.lock_) { other.lock_ = -1; }

UnusedUser& UnusedUser::operator=(UnusedUser&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(lock_, other.lock_);
    return *this;
}

UnusedUser::~UnusedUser() {
    if (lock_ >= 0) close(lock_);
}

void UnusedUser::kill_all() const {
    // As that user, kill(-1) reaches exactly its processes, at once, so that none can fork away. All three ids must
    // have changed: with a real id of root it would reach everybody's.
    const pid_t killer = fork();
    if (killer == 0) {
        const uid_t id = id_;
        if (syscall(SYS_setgroups, 0, nullptr) != 0 || syscall(SYS_setresgid, id, id, id) != 0 ||
            syscall(SYS_setresuid, id, id, id) != 0)
            _exit(1);
        uid_t real = 0, effective = 0, saved = 0;
        getresuid(&real, &effective, &saved);
        if (real != id || effective != id || saved != id || id < first_user || id > last_user) _exit(1);
        ::kill(-1, SIGKILL);
        _exit(0);
    }
    int status;
    while (killer > 0 && waitpid(killer, &status, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace warplab::sandbox
