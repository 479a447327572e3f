#include "grader/judge/sandbox/in_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <exception>
#include <thread>

#include "grader/common/descriptor.h"

namespace warplab {
namespace {

constexpr std::size_t max_answer_bytes = std::size_t{1} << 20;

/// Join the strings, each with a terminating null character. A string that contains a null character ends there.
std::string join(const std::vector<std::string>& strings) {
    std::string joined;
    for (const std::string& text : strings) joined += text.substr(0, text.find('\0')) + '\0';
    return joined;
}

std::vector<std::string> split(const std::string& joined) {
    std::vector<std::string> strings;
    for (std::size_t begin = 0; begin < joined.size(); begin += strings.back().size() + 1)
        strings.emplace_back(joined.c_str() + begin);
    return strings;
}

bool write_all(int out, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = write(out, text.data() + done, text.size() - done);
        if (written <= 0) return false;
        done += static_cast<std::size_t>(written);
    }
    return true;
}

// No exception may leave this function, because the child would then continue with the judge's code.
[[noreturn]] void run_child(int out, const std::function<std::vector<std::string>()>& compute) noexcept {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    bool is_written = false;
    // OpenMP's pool belongs to the thread that made it, and the pool's threads do not exist in this process.
    std::thread([&] {
        try {
            is_written = write_all(out, join(compute()));
        } catch (const std::exception&) {
        }
    }).join();
    _exit(is_written ? 0 : 1);
}

double cpu_seconds(pid_t child) {
    clockid_t clock;
    timespec used{};
    if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Limits a child's time. On a busy machine, the child may take up to `max_factor` times as long as `limit_s`, until it
/// has used about `limit_s` of processor time.
class TimeLimit {
  public:
    TimeLimit(pid_t child, double limit_s) : child_(child), limit_s_(limit_s) {}

    bool is_over() const {
        const double wall_s = std::chrono::duration<double>(Clock::now() - begin_).count();
        return wall_s >= max_factor * limit_s_ || (wall_s >= limit_s_ && cpu_seconds(child_) >= 0.9 * limit_s_);
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr double max_factor = 4;
    const pid_t child_;
    const double limit_s_;
    const Clock::time_point begin_ = Clock::now();
};

/// Read what the child writes until it ends. Return nothing if this takes too long or fails.
std::optional<std::string> read_all(int in, const TimeLimit& limit) {
    constexpr int poll_interval_ms = 20;
    std::string all;
    for (char part[4096]; all.size() <= max_answer_bytes;) {
        if (limit.is_over()) return std::nullopt;
        pollfd readable{in, POLLIN, 0};
        if (poll(&readable, 1, poll_interval_ms) <= 0) continue;
        const ssize_t bytes = read(in, part, sizeof part);
        if (bytes == 0) return all;
        if (bytes > 0) all.append(part, static_cast<std::size_t>(bytes));
        if (bytes < 0 && errno != EINTR) return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::string>> compute_in_child(double limit_s,
                                                         const std::function<std::vector<std::string>()>& compute) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
    const Descriptor read_end(ends[0]);
    Descriptor write_end(ends[1]);
    const pid_t child = fork();
    if (child == 0) run_child(write_end.get(), compute);
    write_end.reset();
    const auto joined = child > 0 ? read_all(read_end.get(), TimeLimit(child, limit_s)) : std::nullopt;
    if (child < 0) return std::nullopt;
    if (!joined) ::kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const bool has_succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return joined && has_succeeded ? std::optional(split(*joined)) : std::nullopt;
}

}  // namespace warplab
