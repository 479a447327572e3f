#include "grader/judge/sandbox/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "grader/common/descriptor.h"
#include "grader/judge/sandbox/bubblewrap.h"
#include "grader/judge/sandbox/cgroup.h"
#include "grader/judge/sandbox/landlock.h"
#include "grader/judge/sandbox/launch.h"
#include "grader/judge/sandbox/limits.h"
#include "grader/judge/sandbox/places.h"
#include "grader/judge/sandbox/process_tree.h"
#include "grader/judge/sandbox/seccomp.h"
#include "grader/judge/sandbox/support.h"
#include "grader/judge/sandbox/users.h"
#include "grader/judge/sandbox/watchdog.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

// The period over which the judge measures whether a process was starved. The kernel counts a thread's wait for a
// processor only once the wait ends, so the period must be much longer than such a wait.
constexpr double starvation_window_s = 1;
constexpr double max_extension = 10;  // multiple of a limit

struct Pipe {
    Descriptor read_end, write_end;
};

Pipe make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(fmt::format("cannot create a pipe: {}", strerror(errno)));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);  // the writer's end remains blocking
    fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Make a memory file with these bytes, positioned at its beginning.
Descriptor make_file(const void* bytes, std::size_t count) {
    Descriptor file(memfd_create("sandbox", MFD_CLOEXEC));
    if (!file || write(file.get(), bytes, count) != static_cast<ssize_t>(count) || lseek(file.get(), 0, SEEK_SET) != 0)
        throw std::runtime_error(fmt::format("cannot create a memory file: {}", strerror(errno)));
    return file;
}

constexpr double no_limit_s = 1e6;

double seconds_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
}

Clock::time_point after(Clock::time_point from, double seconds) {
    return from + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(std::clamp(seconds, 0.0, no_limit_s)));
}

double cpu_limit_s(const Limits& limits, const Budget* budget) {
    return std::min(limits.cpu_s > 0 ? limits.cpu_s : no_limit_s, budget ? budget->cpu_left_s() : no_limit_s);
}

enum class PipeState { empty, readable, closed };

PipeState state_of_pipe(int pipe) {
    pollfd entry{pipe, POLLIN, 0};
    if (poll(&entry, 1, 0) <= 0) return PipeState::empty;
    return entry.revents & POLLIN ? PipeState::readable : PipeState::closed;
}

bool says_out_of_memory(const std::string& output) {
    for (const char* words :
         {"std::bad_alloc", "out of memory allocating", "virtual memory exhausted", "Cannot allocate memory"})
        if (output.find(words) != std::string::npos) return true;
    return false;
}

}  // namespace

std::string_view sandbox_name(SandboxLevel level) {
    switch (level) {
        case SandboxLevel::none:
            return "none";
        case SandboxLevel::uid:
            return "uid";
        case SandboxLevel::namespaces:
            return "namespace";
    }
    return "none";
}

struct Process::State {
    SandboxLevel level = SandboxLevel::none;
    Limits limits;
    std::optional<sandbox::UnusedUser> user;
    std::optional<sandbox::ControlGroup> group;
    std::shared_ptr<Budget> budget;
    std::string mark;

    pid_t child = -1;
    Descriptor ended_file;  // pidfd; absent before Linux 5.3, then the judge polls every 5 ms
    Descriptor output_end, status_end;
    Descriptor own_entry;  // the child's entry in /proc; while this is open, the Landlock rule stays valid
    std::uint64_t judges_peak_bytes = 0;  // the child shares the judge's memory until it executes its program
    Clock::time_point started = Clock::now(), deadline = started, latest = started, latest_with_progress = started;
    Clock::time_point budget_ends = Clock::time_point::max();
    Clock::time_point window_began;                         // for measuring starvation
    std::function<bool()> makes_progress;                   // whether the program made progress since the last call
    std::optional<sandbox::ProcessorTime> at_window_begin;  // the time used when the window began
    bool collected = true;  // no child runs: none was started, or its end has been recorded
    bool deadline_passed = false, flooded = false, budget_spent = false;
    std::uint64_t printed_before = 0;  // before the clock was started
    Ended result;

    void start(const Words& argv, const Policy& policy, const std::vector<int>& inherited, const Words& environment,
               const fs::path& working_directory);
    struct BubblewrapFiles {
        Descriptor status, filter, arguments;
    };
    BubblewrapFiles enter_namespaces(sandbox::Launch& launch, const Policy& policy,
                                     const std::string& working_directory, std::vector<int>& descriptors);
    Descriptor enter_user(sandbox::Launch& launch, const Policy& policy);
    void set_deadline(double wall_s);

    bool child_ended() const;
    void read_output();
    void read_rest();
    void kill();
    void kill_rest();
    void collect();
    void charge_cpu(const rusage& usage);
    void interpret(int status, const rusage& usage);
    bool may_continue();
    Process::Event wait_unbudgeted(double seconds, int readable_fd);
    Process::Event wait_for(double seconds, int readable_fd);
    void sleep_until(Clock::time_point until, int readable_fd) const;
};

Process::State::BubblewrapFiles Process::State::enter_namespaces(sandbox::Launch& launch, const Policy& policy,
                                                                 const std::string& working_directory,
                                                                 std::vector<int>& descriptors) {
    const sandbox::BubblewrapStyle style = sandbox::support().style;
    if (geteuid() == 0) {
        user = sandbox::UnusedUser::take(policy.slot);
        if (!style.root_first) launch.uid = user->id();
        launch.limits.emplace_back(RLIMIT_NPROC, sandbox::process_limit(limits, sandbox::Counted::own_processes));
    }
    Pipe status = make_pipe();
    status_end = std::move(status.read_end);
    const auto next = static_cast<int>(descriptors.size());
    const sandbox::BubblewrapCommand command =
        sandbox::bubblewrap_command(style, launch.argv, policy, working_directory,
                                    user ? static_cast<int>(user->id()) : -1, {next, next + 1, next + 2});
    const sandbox::SeccompFilter& filter = sandbox::seccomp_filter(policy.activity, policy.gpu);
    BubblewrapFiles files{std::move(status.write_end), make_file(filter.data(), filter.size() * sizeof filter[0]),
                          make_file(command.arguments.data(), command.arguments.size())};
    for (const Descriptor* file : {&files.status, &files.filter, &files.arguments}) descriptors.push_back(file->get());
    launch.argv = command.words;
    launch.working_directory = "/";
    return files;
}

Descriptor Process::State::enter_user(sandbox::Launch& launch, const Policy& policy) {
    if (geteuid() != 0) throw std::runtime_error("only root can run programs under another user id");
    user = sandbox::UnusedUser::take(policy.slot);
    user->kill_all();  // processes that a killed judge left
    launch.uid = user->id();
    launch.limits.emplace_back(RLIMIT_NPROC, sandbox::process_limit(limits, sandbox::Counted::own_processes));
    launch.no_new_privileges = true;
    launch.filter = &sandbox::seccomp_filter(policy.activity, policy.gpu);
    launch.own_proc_access = sandbox::reading();

    std::vector<fs::path> readable = {"/usr", "/dev/urandom", "/dev/random", "/sys"};
    for (const auto& list : {sandbox::system_folders(), sandbox::etc_files(policy), sandbox::tool_folders(),
                             sandbox::kernel_files(), policy.readable})
        readable.insert(readable.end(), list.begin(), list.end());
    std::vector<fs::path> devices = {"/dev/null", "/dev/zero"};  // without /tmp, because files there have no size limit
    if (policy.gpu) {
        for (const auto& node : sandbox::gpu_devices(policy.gpu_node)) devices.push_back(node);
        for (const auto& libraries : sandbox::driver_folders()) readable.push_back(libraries);
        launch.own_proc_access |= sandbox::writing();  // the driver sets its threads' names there
    }
    Descriptor ruleset(sandbox::landlock_ruleset(readable, policy.writable, devices));
    // Never start a program with less protection than the level promises.
    if (!ruleset) throw std::runtime_error("cannot create a Landlock ruleset");
    launch.landlock = ruleset.get();
    return ruleset;
}

void Process::State::start(const Words& argv, const Policy& policy, const std::vector<int>& inherited,
                           const Words& environment, const fs::path& working_directory) {
    level = policy.level;
    limits = policy.limits;
    budget = policy.budget;
    if (budget && budget->spent()) {
        result.how = End::budget_spent;
        return;
    }
    sandbox::Launch launch;
    launch.argv = argv;
    const bool one_gpu = policy.gpu_node && level != SandboxLevel::none;
    launch.environment = sandbox::clean_environment(level, policy.gpu, one_gpu, environment);
    launch.working_directory = working_directory.string();
    launch.limits = sandbox::resource_limits(limits);
    if (const double cpu_s = cpu_limit_s(limits, budget.get()); cpu_s < no_limit_s)
        launch.limits.emplace_back(RLIMIT_CPU, static_cast<rlim_t>(std::max(1.0, std::ceil(cpu_s))));

    const fs::path program = sandbox::find_program(argv.at(0));
    if (program.empty()) {
        result.start_error = argv[0] + ": there is no such program";
        return;
    }
    launch.argv[0] = program.string();

    const Descriptor input(open("/dev/null", O_RDONLY | O_CLOEXEC));
    Pipe output = make_pipe();
    std::vector<int> descriptors = {input.get(), output.write_end.get(), output.write_end.get()};
    descriptors.insert(descriptors.end(), inherited.begin(), inherited.end());

    BubblewrapFiles files;
    Descriptor ruleset;
    sandbox::adopt_orphans();
    if (level != SandboxLevel::uid) {
        mark = sandbox::new_mark();
        launch.environment.push_back(mark);
    }
    if (level == SandboxLevel::namespaces) {
        files = enter_namespaces(launch, policy, working_directory.string(), descriptors);
    } else if (level == SandboxLevel::uid) {
        ruleset = enter_user(launch, policy);
    } else {
        launch.limits.emplace_back(RLIMIT_NPROC, sandbox::process_limit(limits, sandbox::Counted::all_processes));
    }
    if (level != SandboxLevel::none)
        group = sandbox::ControlGroup::make(limits.memory_bytes,
                                            sandbox::process_limit(limits, sandbox::Counted::own_processes));
    if (group) launch.cgroup_files = group->join_files();
    launch.descriptors = descriptors;

    rusage own{};
    getrusage(RUSAGE_SELF, &own);
    judges_peak_bytes = static_cast<std::uint64_t>(own.ru_maxrss) << 10;
    started = Clock::now();
    set_deadline(limits.wall_s);
    child = sandbox::launch(launch, result.start_error);
    if (child < 0) return;
    collected = false;
    output_end = std::move(output.read_end);
    ended_file = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    if (level == SandboxLevel::uid)
        own_entry = Descriptor(open(fmt::format("/proc/{}", child).c_str(), O_PATH | O_CLOEXEC));
}

void Process::State::set_deadline(double wall_s) {
    deadline = after(Clock::now(), wall_s);
    latest = after(Clock::now(), wall_s * max_extension);
    latest_with_progress = after(Clock::now(), wall_s * max_with_progress);
    at_window_begin.reset();
}

/// Return whether the child gets more time after the deadline, because other processes starved it or because it makes
/// progress. Both are measured again after each window.
bool Process::State::may_continue() {
    if (Clock::now() >= latest || (budget && budget->spent())) return false;
    const auto time = Clock::now();
    sandbox::ProcessorTime now = sandbox::processor_time(child);
    const bool starved =
        !at_window_begin || sandbox::was_starved(*at_window_begin, now, seconds_between(window_began, time));
    at_window_begin = std::move(now);
    window_began = time;
    deadline = after(time, starvation_window_s);
    const bool progresses = makes_progress && makes_progress();  // since the window began
    result.made_progress = progresses && time >= latest_with_progress;
    return starved || (progresses && !result.made_progress);
}

bool Process::State::child_ended() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == child;
}

/// Read the available output, at most a megabyte, so that a flood does not delay the check of the clock.
void Process::State::read_output() {
    char buffer[64 << 10];
    for (int i = 0; output_end && i < 16; ++i) {
        const ssize_t count = read(output_end.get(), buffer, sizeof buffer);
        if (count == 0) output_end.reset();
        if (count <= 0) return;
        result.output_bytes += static_cast<std::uint64_t>(count);
        const std::size_t room = limits.output_bytes - std::min(limits.output_bytes, result.output.size());
        result.output.append(buffer, std::min(room, static_cast<std::size_t>(count)));
    }
}

/// Read until the last writer has closed the pipe. Call this after all processes have been killed.
void Process::State::read_rest() {
    const auto until = after(Clock::now(), 1);
    while (output_end && Clock::now() < until) {
        pollfd entry{output_end.get(), POLLIN, 0};
        poll(&entry, 1, 10);
        read_output();
    }
    output_end.reset();
}

void Process::State::kill() {
    if (collected) return;
    // wait4 omits descendants that the child did not wait for.
    if (budget && !group) result.cpu_s = sandbox::processor_time(child).used_s;
    if (::kill(child, SIGKILL) != 0 && user) user->kill_all();  // root without CAP_KILL
    collect();
}

/// Kill the processes that an ended child left. (In a pid namespace none is left, except bubblewrap's own second
/// process if bubblewrap was killed during its start.)
void Process::State::kill_rest() {
    if (level != SandboxLevel::uid) sandbox::kill_tree(mark);
    if (level == SandboxLevel::uid) {
        user->kill_all();
        sandbox::reap_orphans(user->id());
    }
}

void Process::State::collect() {
    const Watchdog watchdog("ending a program");
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    result.wall_s = seconds_between(started, Clock::now());
    ::kill(-child, SIGKILL);  // before another process can get its number
    int status = 0;
    rusage usage{};
    pid_t waited;
    while ((waited = wait4(child, &status, 0, &usage)) < 0 && errno == EINTR) {
    }
    if (waited < 0) status = SIGKILL;  // another thread has reaped it: never treat that as success
    kill_rest();
    collected = true;
    ended_file.reset();
    own_entry.reset();
    read_rest();
    charge_cpu(usage);
    interpret(status, usage);
    group.reset();
    user.reset();
}

void Process::State::charge_cpu(const rusage& usage) {
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    result.cpu_s = std::max(result.cpu_s, seconds(usage.ru_utime) + seconds(usage.ru_stime));
    if (group) result.cpu_s = std::max(result.cpu_s, group->cpu_s().value_or(0));
    if (budget) budget->charge_cpu(result.cpu_s);
}

void Process::State::interpret(int status, const rusage& usage) {
    const std::uint64_t peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) << 10;
    result.peak_rss_bytes = peak_bytes > judges_peak_bytes ? peak_bytes : 0;
    result.how = WIFSIGNALED(status) ? End::signaled : End::exited;
    result.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    const bool ran_out = group && group->ran_out();  // no matter which process the kernel killed, bubblewrap included
    if (level == SandboxLevel::namespaces && result.how == End::exited && !ran_out) {
        char report[4096];
        const ssize_t count = read(status_end.get(), report, sizeof report);
        if (!sandbox::bubblewrap_started(std::string(report, static_cast<std::size_t>(std::max<ssize_t>(count, 0))))) {
            result.how = End::not_started;
            result.start_error = result.output.empty() ? "the sandbox did not start" : result.output;
            return;
        }
        if (result.status > 128 && result.status < 128 + NSIG) {  // bubblewrap reports signals in this way
            result.how = End::signaled;
            result.status -= 128;
        }
    }
    if (deadline_passed || flooded) {
        result.how = flooded ? End::flooded : End::timed_out;
        return;
    }
    if (budget_spent || (result.how == End::signaled && budget && budget->spent())) {
        result.how = End::budget_spent;
        return;
    }
    const bool has_succeeded = result.how == End::exited && result.status == 0;
    const bool used_most_memory = result.peak_rss_bytes > limits.memory_bytes / 8 * 7;
    if (ran_out || (!has_succeeded && (used_most_memory || says_out_of_memory(result.output))))
        result.how = End::out_of_memory;
}

void Process::State::sleep_until(Clock::time_point until, int readable_fd) const {
    pollfd entries[3];
    nfds_t count = 0;
    if (ended_file) entries[count++] = {ended_file.get(), POLLIN, 0};
    if (output_end) entries[count++] = {output_end.get(), POLLIN, 0};
    if (readable_fd >= 0) entries[count++] = {readable_fd, POLLIN, 0};
    int wait_ms = static_cast<int>(std::min(seconds_between(Clock::now(), until) * 1000 + 1, 1e6));
    if (!ended_file) wait_ms = std::min(wait_ms, 5);
    poll(entries, count, std::max(wait_ms, 0));
}

/// Charge the budget for the time that the judge waits. While other processes starve the child, only a part of the time
/// counts, so that the budget is extended by the same factor as a limit.
Process::Event Process::State::wait_for(double seconds, int readable_fd) {
    if (!budget) return wait_unbudgeted(seconds, readable_fd);
    const auto until = after(Clock::now(), seconds);
    std::optional<sandbox::ProcessorTime> before;  // not measured in the first window, because most waits are short
    for (;;) {
        const auto begin = Clock::now();
        const double left_s = budget->wall_left_s();
        // Only the end of a window shows how much of it counts, so the budget cannot end within one.
        budget_ends = before && left_s > 0 ? Clock::time_point::max() : after(begin, left_s);
        const double window_s = std::min(starvation_window_s, seconds_between(begin, until));
        const Process::Event event = wait_unbudgeted(window_s, readable_fd);
        const double passed_s = seconds_between(begin, Clock::now());
        sandbox::ProcessorTime now;
        if (event == Process::Event::elapsed) now = sandbox::processor_time(child);
        const bool starved = before && sandbox::was_starved(*before, now, passed_s);
        budget->charge_wall(starved ? passed_s / max_extension : passed_s);
        if (event != Process::Event::elapsed || Clock::now() >= until) return event;
        before = std::move(now);
    }
}

Process::Event Process::State::wait_unbudgeted(double seconds, int readable_fd) {
    const auto until = after(Clock::now(), seconds);
    std::optional<Clock::time_point> closed_since;
    for (;;) {
        const PipeState state = readable_fd >= 0 ? state_of_pipe(readable_fd) : PipeState::empty;
        if (state == PipeState::readable) return Event::readable;
        if (collected) return Event::ended;
        read_output();
        if (child_ended()) {
            collect();
            return readable_fd >= 0 && state_of_pipe(readable_fd) == PipeState::readable ? Event::readable
                                                                                         : Event::ended;
        }
        const auto now = Clock::now();
        // A child that closed its end of the pipe is usually about to exit. Report "ended" rather than "readable",
        // unless it continues to run.
        if (state == PipeState::closed) {
            if (!closed_since) closed_since = now;
            if (seconds_between(*closed_since, now) > 0.5) return Event::readable;
        }
        flooded = limits.max_printed_bytes && result.output_bytes - printed_before > limits.max_printed_bytes;
        budget_spent = now >= budget_ends && budget_ends < deadline;
        deadline_passed = !budget_spent && now >= deadline && !may_continue();
        if (budget_spent || flooded || deadline_passed) {
            kill();
            return Event::ended;
        }
        if (now >= until) return Event::elapsed;
        const bool watch = readable_fd >= 0 && state != PipeState::closed;
        sleep_until(
            std::min({until, deadline, latest, budget_ends, watch ? until : after(now, closed_since ? 0.05 : 1e6)}),
            watch ? readable_fd : -1);
    }
}

Process::Process(State* state) : state_(state) {}
Process::Process(Process&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
Process& Process::operator=(Process&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}
Process::~Process() {
    if (state_) state_->kill();
    delete state_;
}

Process Process::start(const Words& argv, const Policy& policy, const std::vector<int>& inherited,
                       const Words& environment, const fs::path& working_directory) {
    if (argv.empty()) throw std::runtime_error("no program to start");
    Process process(new State);
    try {
        process.state_->start(argv, policy, inherited, environment, working_directory);
    } catch (const std::exception& problem) {
        process.state_->result.start_error = problem.what();
    }
    return process;
}

Process::Event Process::wait_for(double seconds, int readable_fd) { return state_->wait_for(seconds, readable_fd); }

void Process::restart_clock(double wall_s, std::function<bool()> makes_progress) {
    state_->set_deadline(wall_s);
    state_->makes_progress = std::move(makes_progress);
    state_->printed_before = state_->result.output_bytes;
}

bool Process::running() const { return !state_->collected && !state_->child_ended(); }

void Process::kill() { state_->kill(); }

void Process::pause() const {
    if (running()) sandbox::stop_tree(state_->child);
}

void Process::resume() const {
    if (running()) sandbox::signal_tree(state_->child, SIGCONT);
}

Ended Process::finish() {
    while (state_->wait_for(3600, -1) != Event::ended) {
    }
    return state_->result;
}

std::string Process::output() const { return state_->result.output; }

int Process::pid() const { return state_->child; }

Ended run_to_end(const Words& argv, const Policy& policy, const Words& environment, const fs::path& working_directory) {
    return Process::start(argv, policy, {}, environment, working_directory).finish();
}

}  // namespace warplab
