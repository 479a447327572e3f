// `warplab watch`: checks a stage whenever its file is saved. It waits for inotify events, without using processor
// time. Each check is a separate process, which is killed when the file is saved again, so a kernel that hangs delays
// nothing.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <set>
#include <utility>

#include "grader/common/descriptor.h"
#include "grader/common/hash.h"
#include "grader/common/text.h"
#include "grader/judge/cli/judging.h"
#include "grader/judge/cli/next.h"
#include "grader/judge/cli/verbs.h"
#include "grader/judge/cli/work.h"
#include "grader/judge/compile/source.h"
#include "grader/judge/machine.h"
#include "grader/judge/present/board.h"
#include "grader/judge/present/render.h"

namespace warplab {
namespace fs = std::filesystem;
namespace {

constexpr int settle_ms = 30;  // wait for further events, because editors write, rename and write again

/// Reports the files of one folder that are saved.
class Saves {
  public:
    explicit Saves(const fs::path& folder) : folder_(folder), queue_(inotify_init1(IN_CLOEXEC)) {
        // Many editors write a new file and rename it.
        if (!queue_ || inotify_add_watch(queue_.get(), folder.c_str(),
                                         IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVE_SELF | IN_ONLYDIR) < 0)
            throw UsageError(fmt::format("Cannot watch the folder {} ({}).", folder.string(), strerror(errno)));
    }

    /// Wait until files are saved, and return their names.
    std::set<std::string> next() {
        std::set<std::string> names;
        for (int wait_ms = -1; is_readable(wait_ms); wait_ms = settle_ms) take(names);
        return names;
    }

  private:
    bool is_readable(int wait_ms) {
        pollfd queue{queue_.get(), POLLIN, 0};
        while (poll(&queue, 1, wait_ms) < 0)
            if (errno != EINTR) throw UsageError(fmt::format("Cannot wait for changes ({}).", strerror(errno)));
        return queue.revents != 0;
    }

    void take(std::set<std::string>& names) {
        alignas(inotify_event) std::array<char, 16384> events;
        const ssize_t bytes = read(queue_.get(), events.data(), events.size());
        for (ssize_t at = 0; at < bytes;) {
            const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at);
            if (event->mask & (IN_IGNORED | IN_MOVE_SELF))
                throw UsageError(
                    fmt::format("The folder {} no longer exists. Type  make watch  again.", folder_.string()));
            if (event->len > 0) names.insert(event->name);
            at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
        }
    }

    fs::path folder_;
    Descriptor queue_;
};

std::string clear_screen() { return isatty(STDOUT_FILENO) ? "\033[H\033[2J" : "\n"; }

std::string local_time() { return fmt::format("{:%H:%M:%S}", fmt::localtime(std::time(nullptr))); }

void show(const Report& report, const Lab& lab, const Options& options, const std::string& saved) {
    const TextStyle style = text_style(STDOUT_FILENO);
    const StageReport& stage = report.stages.back();
    std::string text =
        paint(fmt::format("{}, saved {}, backend: {}", lab.name, saved, report.backend), Colour::bold, style);
    text += "\n" + render_board(stage, lab, style) + describe_stage(stage, lab, options, style);
    print(clear_screen() + text);
    keep_results(report, stage, lab, options);
    print(next_after(report, lab, options, true) + "\nWatching. Save a file to check it; press Ctrl-C to stop.\n");
}

/// Check one stage and show the result.
void check_once(const Lab& lab, const Stage& stage, const Options& options) {
    Judge judge(options.folders, choose_backend(options.backend));
    check_names(lab, options, judge.backend());
    const Task task{.options = options, .own_code = true, .sanitizer = !options.no_check_mode};
    const std::string saved = local_time();
    Report report = begin_report(judge, "check", lab, task);
    Console console;
    report.stages.push_back(judge_one(judge, lab, stage, task, console));
    show(report, lab, options, saved);
}

/// A check in a separate process, which ends with this object.
class RunningCheck {
  public:
    RunningCheck(const Lab& lab, const Stage& stage, const Options& options) : process_(fork()) {
        if (process_ < 0) throw UsageError(fmt::format("Cannot start another process ({}).", strerror(errno)));
        if (process_ > 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int status = 0;
        try {
            check_once(lab, stage, options);
        } catch (const std::exception& error) {
            fmt::print(stderr, "{}\n", error.what());
            status = 2;
        }
        std::fflush(stdout);
        _exit(status);
    }
    ~RunningCheck() {
        kill(process_, SIGKILL);  // its own processes end, too
        waitpid(process_, nullptr, 0);
    }
    RunningCheck(const RunningCheck&) = delete;
    RunningCheck& operator=(const RunningCheck&) = delete;

  private:
    pid_t process_;
};

const Stage* stage_of(const Lab& lab, const std::string& file) {
    const auto stage =
        std::ranges::find_if(lab.stages, [&](const Stage& candidate) { return candidate.id + ".cu" == file; });
    return stage == lab.stages.end() ? nullptr : &*stage;
}

/// Return the stage to check first: the one that was requested, else the one that was edited last.
const Stage& first_stage(const Lab& lab, const Options& options) {
    if (!options.stage.empty()) return lab.stage(options.stage);
    return *std::ranges::max_element(lab.stages, {},
                                     [&](const Stage& stage) { return last_edited(lab, stage, options.folders); });
}

/// Wait until one of the lab's stages has a new text, or cannot be read any more, and return that stage.
const Stage& wait_for_change(Saves& saves, const Lab& lab, const fs::path& folder,
                             std::map<std::string, std::string>& hashes) {
    for (;;) {
        for (const std::string& name : saves.next()) {
            const Stage* stage = stage_of(lab, name);
            if (!stage || !fs::exists(fs::symlink_status(folder / name))) continue;
            const std::string hash = Source(folder / name).hash();  // empty for a folder or a pipe: the check fails
            if (std::exchange(hashes[name], hash) != hash) return *stage;
        }
    }
}

}  // namespace

int watch(const Options& options) {
    std::signal(SIGINT, [](int) { _exit(0); });  // Ctrl-C is not an error
    const Lab lab = load_lab(options.folders.root, options.lab);
    if (!is_work(options)) throw UsageError("watch checks only your own files in work/: omit TREE and SOURCE.");
    start_if_needed(lab, options);
    const fs::path folder = options.folders.work / lab.name;
    Saves saves(folder);
    std::map<std::string, std::string> hashes;
    for (const Stage& stage : lab.stages) hashes[stage.id + ".cu"] = Source(folder / (stage.id + ".cu")).hash();
    std::fflush(stdout);  // otherwise, each check's process would print the buffered text again
    for (const Stage* stage = &first_stage(lab, options);;) {
        const RunningCheck check(lab, *stage, options);
        stage = &wait_for_change(saves, lab, folder, hashes);
    }
}

}  // namespace warplab
