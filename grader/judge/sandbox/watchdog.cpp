#include "grader/judge/sandbox/watchdog.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <mutex>
#include <thread>

namespace warplab {

using Clock = std::chrono::steady_clock;

namespace {

constexpr int interruption = SIGURG;  // ignored by default, so an empty handler changes nothing else
constexpr auto between_interruptions = std::chrono::milliseconds(50);
constexpr auto grace_period = std::chrono::seconds(20);  // after the deadline

void ignore(int) {}

[[noreturn]] void give_up(const char* doing) {
    fmt::print(stderr,
               "The judge hangs while {}: a system call does not return. Restart this machine or reset its GPU.\n",
               doing);
    std::fflush(stderr);
    _exit(2);
}

/// All watchdogs, and the thread that checks them. Never destroyed, because this thread runs until the process ends.
class Watcher {
  public:
    static Watcher& get() {
        static auto* watcher = new Watcher;
        return *watcher;
    }

    void add(const Watchdog* watchdog, const char* doing, Clock::time_point deadline) {
        const std::lock_guard lock(mutex_);
        watched_.push_back({watchdog, pthread_self(), doing, deadline});
        changed_.notify_one();
    }

    void remove(const Watchdog* watchdog) {
        const std::lock_guard lock(mutex_);
        watched_.remove_if([&](const Watched& call) { return call.watchdog == watchdog; });
    }

  private:
    struct Watched {
        const Watchdog* watchdog;
        pthread_t thread;
        const char* doing;
        Clock::time_point deadline;
    };

    Watcher() {
        struct sigaction action {};
        action.sa_handler = ignore;  // without SA_RESTART: the call returns EINTR
        sigaction(interruption, &action, nullptr);
        std::thread([this] { watch(); }).detach();
    }

    [[noreturn]] void watch() {
        std::unique_lock lock(mutex_);
        for (;;) {
            if (watched_.empty()) changed_.wait(lock);
            auto next = Clock::now() + grace_period;
            for (const Watched& call : watched_) {
                if (Clock::now() >= call.deadline + grace_period) give_up(call.doing);
                if (Clock::now() >= call.deadline) pthread_kill(call.thread, interruption);
                next = std::min(next, std::max(call.deadline, Clock::now() + between_interruptions));
            }
            changed_.wait_until(lock, next);
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Watched> watched_;
};

}  // namespace

Watchdog::Watchdog(const char* doing, double limit_s)
    : deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s))) {
    Watcher::get().add(this, doing, deadline_);
}

Watchdog::~Watchdog() { Watcher::get().remove(this); }

bool Watchdog::overdue() const { return Clock::now() >= deadline_; }

}  // namespace warplab
