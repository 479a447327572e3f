#include "grader/judge/sandbox/family.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <vector>

namespace warplab::sandbox {
namespace {
namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<pid_t> children_of(const std::string& process) {
    std::vector<pid_t> children;
    std::error_code error;
    for (const auto& thread : fs::directory_iterator("/proc/" + process + "/task", error)) {
        std::ifstream list(thread.path() / "children");
        for (pid_t child; list >> child;) children.push_back(child);
    }
    return children;
}

bool has_mark(pid_t process, const std::string& mark) {
    const std::string environment = '\0' + read_file("/proc/" + std::to_string(process) + "/environ");
    return environment.find('\0' + mark + '\0') != std::string::npos;
}

bool belongs_to(pid_t process, uid_t user) {
    std::ifstream status("/proc/" + std::to_string(process) + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("Uid:")) return std::strtoul(line.c_str() + 4, nullptr, 10) == user;
    return false;
}

void kill_below(pid_t process) {
    for (pid_t child : children_of(std::to_string(process))) kill_below(child);
    ::kill(process, SIGKILL);
}

}  // namespace

void adopt_orphans() {
    static std::once_flag once;
    std::call_once(once, [] { prctl(PR_SET_CHILD_SUBREAPER, 1); });
}

std::string new_mark() {
    static std::atomic<unsigned> count = 0;
    return std::string(mark_name) + "=" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

void kill_family(const std::string& mark) {
    for (int round = 0; round < 200; ++round) {
        bool found = false;
        for (pid_t child : children_of("self")) {
            if (!has_mark(child, mark)) continue;
            found = true;
            kill_below(child);
            int status;
            waitpid(child, &status, 0);
        }
        if (!found) return;
    }
}

void reap_orphans(uid_t user) {
    for (bool found = true; found;) {
        found = false;
        for (pid_t child : children_of("self")) {
            if (!belongs_to(child, user)) continue;
            int status;
            found = waitpid(child, &status, 0) == child;
        }
    }
}

}  // namespace warplab::sandbox
