#include "grader/judge/sandbox/in_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
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
    bool done = false;
    // OpenMP's pool belongs to the thread that made it, and the pool's threads do not exist in this process.
    std::thread([&] {
        try {
            done = write_all(out, join(compute()));
        } catch (const std::exception&) {
        }
    }).join();
    _exit(done ? 0 : 1);
}

/// Read until the end, for at most `limit_s`. Return nothing if this takes longer or fails.
std::optional<std::string> read_all(int in, double limit_s) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(limit_s);
    std::string all;
    for (char part[4096]; all.size() <= max_answer_bytes;) {
        const double left_ms = std::chrono::duration<double, std::milli>(end - Clock::now()).count();
        if (left_ms <= 0) return std::nullopt;
        pollfd readable{in, POLLIN, 0};
        if (poll(&readable, 1, static_cast<int>(std::min(std::ceil(left_ms), 1e6))) <= 0) continue;
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
    const auto joined = child > 0 ? read_all(read_end.get(), limit_s) : std::nullopt;
    if (child < 0) return std::nullopt;
    if (!joined) ::kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const bool ended_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return joined && ended_well ? std::optional(split(*joined)) : std::nullopt;
}

}  // namespace warplab
