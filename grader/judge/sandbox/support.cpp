#include "grader/judge/sandbox/support.h"

#include <fmt/format.h>
#include <unistd.h>

#include <mutex>

#include "grader/judge/sandbox/cgroup.h"
#include "grader/judge/sandbox/landlock.h"
#include "grader/judge/sandbox/places.h"

namespace warplab {
namespace sandbox {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Return the reason why /bin/true does not run at this level; empty if it does.
std::string try_level(SandboxLevel level) {
    Policy policy;
    policy.activity = Activity::run;
    policy.level = level;
    const Ended ended = run_to_end({"/bin/true"}, policy);
    if (ended.how == End::exited && ended.status == 0) return "";
    if (!ended.start_error.empty()) return first_line(ended.start_error);
    return ended.output.empty() ? "/bin/true does not run at this level" : first_line(ended.output);
}

Support found;  // the result of support(), while it is being determined and afterwards

void try_namespaces(std::string& reason) {
    if (find_program("bwrap").empty()) {
        reason = why_no_bubblewrap("");
        return;
    }
    std::string why_not;
    for (const bool root_first : {true, false}) {
        if (root_first && geteuid() != 0) continue;
        found.style.root_first = root_first;
        why_not = try_level(SandboxLevel::namespaces);
        if (found.style.has_size && why_not.find("--size") != std::string::npos) {
            found.style.has_size = false;
            why_not = try_level(SandboxLevel::namespaces);
        }
        if (why_not.empty()) {
            found.offered.level = SandboxLevel::namespaces;
            return;
        }
    }
    reason = why_no_bubblewrap(why_not);
}

void try_user(std::string& reason) {
    if (geteuid() != 0) {
        reason += " Only root can work without it, with separate user ids for the sandbox.";
        return;
    }
    const std::string does_not_work = " A separate user id does not work either";
    if (landlock_version() == 0) {
        reason +=
            does_not_work +
            ": this kernel has no Landlock, or the container blocks it, so graded code could read all files that any "
            "user may read. This needs Linux 5.13 or newer with \"landlock\" in lsm= on the kernel's command line.";
        return;
    }
    if (const std::string why_not = try_level(SandboxLevel::uid); !why_not.empty()) {
        reason += fmt::format(
            "{} ({}); in a container, it needs --cap-add SETUID --cap-add SETGID, user ids up to 61183 "
            "and a seccomp profile that allows it.",
            does_not_work, why_not);
        return;
    }
    found.offered.level = SandboxLevel::uid;
}

}  // namespace

const Support& support() {
    static std::recursive_mutex mutex;  // trying a level calls this function again, for the style
    static bool tried = false;
    const std::lock_guard lock(mutex);
    if (tried) return found;
    tried = true;
    std::string reason;
    try_namespaces(reason);
    if (found.offered.level == SandboxLevel::none) {
        try_user(reason);
        found.offered.why_not_stronger = reason;
    }
    found.offered.without_groups = control_group_support().weaknesses();
    return found;
}

}  // namespace sandbox

const SandboxSupport& sandbox_support() { return sandbox::support().offered; }

std::string sandbox_remark() {
    const SandboxSupport& offered = sandbox_support();
    std::string remark;
    if (!offered.why_not_stronger.empty())
        remark = fmt::format("{} instead of namespace: {}", sandbox_name(offered.level), offered.why_not_stronger);
    if (!remark.empty() && !offered.without_groups.empty()) remark += ' ';
    return remark + offered.without_groups;
}

}  // namespace warplab
