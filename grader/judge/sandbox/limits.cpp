#include "grader/judge/sandbox/limits.h"

#include <sys/utsname.h>

#include <cstdio>
#include <fstream>
#include <thread>

namespace warplab::sandbox {
namespace {

/// Return the number of tasks on the whole machine: the fourth field of /proc/loadavg is "running/all".
rlim_t tasks_now() {
    std::ifstream file("/proc/loadavg");
    std::string field;
    for (int i = 0; i < 4; ++i) file >> field;
    unsigned long running = 0, all = 0;
    return std::sscanf(field.c_str(), "%lu/%lu", &running, &all) == 2 ? all : 4096;
}

}  // namespace

Counted counted_in_user_namespace() {
    utsname system{};
    int major = 0, minor = 0;
    uname(&system);
    std::sscanf(system.release, "%d.%d", &major, &minor);
    return major > 5 || (major == 5 && minor >= 14) ? Counted::own_processes : Counted::all_processes;
}

rlim_t process_limit(const Limits& limits, Counted counted) {
    const rlim_t allowed = static_cast<rlim_t>(limits.processes) + std::thread::hardware_concurrency();
    return counted == Counted::own_processes ? allowed : allowed + tasks_now();
}

std::vector<std::pair<int, rlim_t>> resource_limits(const Limits& limits) {
    // If the machine pipes core dumps to a program, which runs outside the sandbox, a limit of 0 does not keep the
    // kernel from starting it; only 1 does.
    constexpr rlim_t no_core_dump = 1;
    // The kernel counts timers per user: without a separate limit, a program could take all timers of the judge's
    // user.
    constexpr rlim_t max_timers_and_signals = 1024;
    return {{RLIMIT_DATA, limits.memory_bytes},
            {RLIMIT_FSIZE, limits.file_bytes},
            {RLIMIT_CORE, no_core_dump},
            {RLIMIT_SIGPENDING, max_timers_and_signals},
            {RLIMIT_NOFILE, 4096}};
}

}  // namespace warplab::sandbox
