#include "grader/judge/sandbox/process_tree.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "grader/common/read_file.h"

namespace warplab::sandbox {
namespace {
namespace fs = std::filesystem;

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

/// Return the processor time of a process, including ended threads and the children that it waited for. Otherwise, a
/// program could hide its work in short threads and seem starved by others.
double used_s(const std::string& process) {
    const std::string stat = read_file("/proc/" + process + "/stat");
    std::istringstream fields(stat.substr(std::min(stat.rfind(')'), stat.size() - 1) + 1));
    constexpr int before = 11;  // the fields from the state to the numbers of page faults
    std::string skipped;
    for (int i = 0; i < before; ++i) fields >> skipped;
    double user = 0, system = 0, children_user = 0, children_system = 0;
    fields >> user >> system >> children_user >> children_system;
    return (user + system + children_user + children_system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// Add the processor time of a process tree, and the time for which each thread was ready without a processor.
void add_processor_time(const std::string& process, ProcessorTime& sum) {
    sum.used_s += used_s(process);
    std::error_code error;
    for (const auto& thread : fs::directory_iterator("/proc/" + process + "/task", error)) {
        std::ifstream file(thread.path() / "schedstat");
        double ran_ns = 0, waited_ns = 0;
        if (!(file >> ran_ns >> waited_ns)) continue;
        sum.waited_s[std::atoi(thread.path().filename().c_str())] = waited_ns * 1e-9;
    }
    for (const pid_t child : children_of(process)) add_processor_time(std::to_string(child), sum);
}

/// Return whether a thread of a process is neither stopped nor ended.
bool runs(const std::string& process) {
    std::error_code error;
    for (const auto& thread : fs::directory_iterator("/proc/" + process + "/task", error)) {
        const std::string stat = read_file(thread.path() / "stat");
        const std::size_t state = stat.rfind(") ") + 2;
        if (state < stat.size() && std::string_view("TtZX").find(stat[state]) == std::string_view::npos) return true;
    }
    return false;
}

bool any_runs(pid_t root) {
    const std::string process = std::to_string(root);
    return (::kill(root, 0) == 0 && runs(process)) ||
           std::ranges::any_of(children_of(process), [](pid_t child) { return any_runs(child); });
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

void kill_tree(const std::string& mark) {
    for (int round = 0; round < 200; ++round) {
        bool any_found = false;
        for (pid_t child : children_of("self")) {
            if (!has_mark(child, mark)) continue;
            any_found = true;
            kill_below(child);
            int status;
            waitpid(child, &status, 0);
        }
        if (!any_found) return;
    }
}

void signal_tree(pid_t root, int signal) {
    ::kill(root, signal);
    for (const pid_t child : children_of(std::to_string(root))) signal_tree(child, signal);
}

void stop_tree(pid_t root) {
    constexpr std::chrono::seconds max_wait(1);
    constexpr std::chrono::microseconds pause(20);
    signal_tree(root, SIGSTOP);
    const auto end = std::chrono::steady_clock::now() + max_wait;
    while (any_runs(root) && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(pause);
}

ProcessorTime processor_time(pid_t root) {
    ProcessorTime sum;
    add_processor_time(std::to_string(root), sum);
    return sum;
}

bool was_starved(const ProcessorTime& before, const ProcessorTime& now, double seconds) {
    double longest_s = 0;
    for (const auto& [thread, waited_s] : now.waited_s) {
        const auto earlier = before.waited_s.find(thread);
        longest_s = std::max(longest_s, waited_s - (earlier == before.waited_s.end() ? 0 : earlier->second));
    }
    return now.used_s - before.used_s < 0.5 * seconds && longest_s > 0.5 * seconds;
}

void reap_orphans(uid_t user) {
    for (bool any_found = true; any_found;) {
        any_found = false;
        for (pid_t child : children_of("self")) {
            if (!belongs_to(child, user)) continue;
            int status;
            any_found = waitpid(child, &status, 0) == child;
        }
    }
}

}  // namespace warplab::sandbox
