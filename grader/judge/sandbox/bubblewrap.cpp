#include "grader/judge/sandbox/bubblewrap.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "grader/judge/sandbox/host.h"
#include "grader/judge/sandbox/limits.h"
#include "grader/judge/sandbox/places.h"
#include "grader/judge/sandbox/process_tree.h"

namespace warplab::sandbox {
namespace {
namespace fs = std::filesystem;

using Words = std::vector<std::string>;

void add(Words& to, const Words& words) { to.insert(to.end(), words.begin(), words.end()); }

/// Add a folder in memory. Without the option --size, bubblewrap sets no limit for it.
void add_temporary(Words& command, const std::string& folder, std::uint64_t bytes, bool has_size) {
    add(command, {"--perms", "1777"});
    if (has_size) add(command, {"--size", std::to_string(bytes)});
    add(command, {"--tmpfs", folder});
}

/// Add the folders that contain bound paths. Bubblewrap would create them itself, and only root could enter them.
void add_folders_above(Words& command, const std::vector<fs::path>& paths) {
    std::set<fs::path> folders;  // in order: each after the folder that contains it
    for (const auto& path : paths)
        for (fs::path folder = path.parent_path(); folder != folder.root_path(); folder = folder.parent_path())
            folders.insert(folder);
    for (const auto& folder : folders)
        if (!folder.string().starts_with("/usr")) add(command, {"--perms", "0755", "--dir", folder.string()});
}

void add_system(Words& command, const Policy& policy) {
    add(command, {"--ro-bind", "/usr", "/usr"});
    for (const auto& folder : system_folders()) {
        std::error_code error;
        if (fs::is_symlink(folder, error))
            add(command, {"--symlink", fs::read_symlink(folder, error).string(), folder.string()});
        else
            add(command, {"--ro-bind", folder.string(), folder.string()});
    }
    const std::vector<fs::path> files_in_etc = etc_files(policy);
    add_folders_above(command, files_in_etc);
    for (const auto& path : files_in_etc) add(command, {"--ro-bind", path.string(), path.string()});
    add_folders_above(command, tool_folders());
    for (const auto& path : tool_folders()) add(command, {"--ro-bind", path.string(), path.string()});
}

void add_gpu(Words& command, std::optional<int> gpu_node) {
    for (const auto& node : gpu_devices(gpu_node)) add(command, {"--dev-bind-try", node.string(), node.string()});
    add(command, {"--ro-bind-try", "/sys", "/sys"});
    add_folders_above(command, driver_folders());
    for (const auto& folder : driver_folders())
        if (!folder.string().starts_with("/usr/")) add(command, {"--ro-bind", folder.string(), folder.string()});
}

std::string read_first_word(const std::string& file) {
    std::ifstream stream(file);
    std::string word;
    stream >> word;
    return word;
}

/// Return the options before the program.
Words bubblewrap_arguments(const BubblewrapStyle& style, const Policy& policy, const std::string& working_directory,
                           const BubblewrapDescriptors& descriptors) {
    Words command = {"--unshare-pid",     "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
                     "--die-with-parent", "--new-session", "--hostname",    "warplab"};
    if (!style.root_first) command.push_back("--unshare-user");
    add(command, {"--unsetenv", mark_name, "--json-status-fd", std::to_string(descriptors.status), "--seccomp",
                  std::to_string(descriptors.filter)});
    add_temporary(command, "/tmp", policy.limits.file_bytes,
                  style.has_size);  // first, because the tools may also be in it
    add_system(command, policy);
    add(command, {"--proc", "/proc", "--dev", "/dev"});
    add_temporary(command, "/dev/shm", policy.limits.file_bytes, style.has_size);
    if (policy.gpu) add_gpu(command, policy.gpu_node);
    add_folders_above(command, policy.readable);
    add_folders_above(command, policy.writable);
    for (const auto& path : policy.readable) add(command, {"--ro-bind", path.string(), path.string()});
    for (const auto& path : policy.writable) add(command, {"--bind", path.string(), path.string()});
    add(command, {"--chdir", working_directory});
    return command;
}

}  // namespace

BubblewrapCommand bubblewrap_command(const BubblewrapStyle& style, const Words& program, const Policy& policy,
                                     const std::string& working_directory, int user,
                                     const BubblewrapDescriptors& descriptors) {
    BubblewrapCommand result;
    for (const std::string& word : bubblewrap_arguments(style, policy, working_directory, descriptors))
        result.arguments += word + '\0';
    Words& command = result.words;
    command = {find_program("bwrap").string(), "--args", std::to_string(descriptors.arguments), "--"};
    if (style.root_first) {
        const std::string id = std::to_string(user);
        add(command, {"/usr/bin/setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--no-new-privs",
                      "--inh-caps=-all", "--bounding-set=-all", "--"});
    } else if (user < 0) {
        // An ordinary user may already run more processes than the limit. Since Linux 5.14, a limit that is set in a
        // user namespace counts only the processes of this namespace, so prlimit sets it there.
        add(command, {"/usr/bin/prlimit",
                      fmt::format("--nproc={}", process_limit(policy.limits, counted_in_user_namespace())), "--"});
    }
    add(command, program);
    return result;
}

bool bubblewrap_started(const std::string& status_text) {
    return status_text.find("\"exit-code\"") != std::string::npos;
}

std::string why_no_bubblewrap(const std::string& output) {
    if (find_program("bwrap").empty())
        return "bubblewrap is not installed; install the package bubblewrap (apt-get install bubblewrap).";
    if (!output.empty() && !output.starts_with("bwrap:"))
        return fmt::format("bubblewrap cannot be started here ({}); a container's seccomp profile may refuse that.",
                           output);
    const std::string quoted = output.empty() ? "" : fmt::format(" (its message: {})", output);
    if (read_first_word("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" && geteuid() != 0)
        return fmt::format(
            "AppArmor prevents bubblewrap from starting, as it does on Ubuntu 24.04 by default{}; `make setup` as root "
            "or with sudo installs the profile that allows it.",
            quoted);
    for (const char* kind : {"pid", "net", "ipc", "uts", "mnt", "cgroup", "user"})
        if (read_first_word(fmt::format("/proc/sys/user/max_{}_namespaces", kind)) == "0")
            return fmt::format(
                "this machine allows no {0} namespaces{1}; an administrator can type `sysctl "
                "user.max_{0}_namespaces=15000`.",
                kind, quoted);
    if (read_first_word("/proc/sys/kernel/unprivileged_userns_clone") == "0" && geteuid() != 0)
        return fmt::format(
            "this machine allows user namespaces only to root{}; an administrator can type `sysctl "
            "kernel.unprivileged_userns_clone=1`.",
            quoted);
    if (in_container() && output.find("execvp") == std::string::npos)
        return fmt::format(
            "this container may not create namespaces{}; start it with --cap-add SYS_ADMIN --security-opt "
            "seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined.",
            quoted);
    return fmt::format("bubblewrap is installed but does not start here{}.", quoted);
}

}  // namespace warplab::sandbox
