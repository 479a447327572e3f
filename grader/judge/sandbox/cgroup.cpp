#include "grader/judge/sandbox/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "grader/common/descriptor.h"
#include "grader/common/read_file.h"
#include "grader/judge/sandbox/host.h"

namespace warplab::sandbox {
namespace {
namespace fs = std::filesystem;

constexpr std::array controllers = {"memory", "cpu", "cpuacct", "pids"};
constexpr auto judges_group_name = "warplab-judge";
const fs::path mount_point = "/sys/fs/cgroup";

bool write_value(const fs::path& file, const std::string& value) {
    const Descriptor opened(open(file.c_str(), O_WRONLY | O_CLOEXEC));
    return opened && write(opened.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

std::uint64_t number_after(const fs::path& file, const std::string& key) {
    std::ifstream stream(file);
    std::string word;
    std::uint64_t number = 0;
    while (stream >> word >> number)
        if (word == key) return number;
    return 0;
}

bool has_word(const std::string& text, const std::string& word) {
    std::istringstream words(text);
    return std::find(std::istream_iterator<std::string>(words), {}, word) != std::istream_iterator<std::string>();
}

/// Parent folders of new groups, by controller. In version 2, all controllers have the same folder.
struct Parents {
    std::map<std::string, fs::path> folders;
    bool unified = false;
};

/// Return a group's folder. `group` begins with a slash; "/" is the hierarchy's root.
fs::path folder_of(const fs::path& hierarchy, const std::string& group) {
    return group == "/" ? hierarchy : hierarchy / group.substr(1);
}

/// Return this process's group in each hierarchy, by the hierarchy's controllers; that of version 2 has none.
std::map<std::string, std::string> own_groups() {
    std::map<std::string, std::string> groups;
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (second != std::string::npos) groups[line.substr(first + 1, second - first - 1)] = line.substr(second + 1);
    }
    return groups;
}

/// Return whether the judge may divide the processes of a group into further groups. systemd marks such groups. The
/// root group of a container, too, can be divided; unlike the machine's root group, it has the file cgroup.type.
bool is_delegated(const fs::path& folder) {
    if (folder == mount_point) return fs::exists(folder / "cgroup.type");
    for (const char* mark : {"trusted.delegate", "user.delegate"})
        if (char value = 0; getxattr(folder.c_str(), mark, &value, 1) == 1 && value == '1') return true;
    return false;
}

/// Move the judge into a group below the folder; in a delegated group, move every process, such as `make`.
void move_out_of(const fs::path& folder) {
    const fs::path judges_group = folder / judges_group_name;
    mkdir(judges_group.c_str(), 0755);
    write_value(judges_group / "cgroup.procs", "0");
    if (!is_delegated(folder)) return;
    std::ifstream processes(folder / "cgroup.procs");
    for (std::string id; processes >> id;) write_value(judges_group / "cgroup.procs", id);
}

/// Enable controllers below a folder. Version 2 allows that only if the folder has no processes.
bool enable_below(const fs::path& folder) {
    const auto enable = [&] {
        const std::string offered = read_file(folder / "cgroup.controllers");
        for (const char* controller : {"memory", "cpu", "pids"})
            if (has_word(offered, controller) && !has_word(read_file(folder / "cgroup.subtree_control"), controller))
                if (!write_value(folder / "cgroup.subtree_control", fmt::format("+{}", controller))) return false;
        return has_word(read_file(folder / "cgroup.subtree_control"), "memory");
    };
    if (enable()) return true;
    if (folder == mount_point && !is_delegated(folder)) return false;  // the root may have both processes and groups
    const int attempts = is_delegated(folder) ? 10 : 1;  // processes may start in the folder's group meanwhile
    for (int attempt = 0; attempt < attempts; ++attempt) {
        move_out_of(folder);
        if (enable()) return true;
    }
    return false;
}

/// Make the folder of a group. A killed judge with the same process id may have left one.
bool make_folder(const fs::path& folder) {
    if (mkdir(folder.c_str(), 0755) == 0) return true;
    return errno == EEXIST && rmdir(folder.c_str()) == 0 && mkdir(folder.c_str(), 0755) == 0;
}

bool can_make_groups(const fs::path& folder) { return access((folder / "cgroup.procs").c_str(), W_OK) == 0; }

/// Return candidate parents: the judge's own group, then the root of the hierarchy, where root may create groups.
std::vector<fs::path> candidates(const fs::path& hierarchy, const std::string& group) {
    fs::path group_folder = folder_of(hierarchy, group);
    if (group_folder.filename() == judges_group_name) group_folder = group_folder.parent_path();
    return {group_folder, hierarchy};
}

Parents find_parents() {
    const auto groups = own_groups();
    Parents parents;
    if (const auto iterator = groups.find("");
        iterator != groups.end() && fs::exists(mount_point / "cgroup.controllers")) {
        for (const fs::path& folder : candidates(mount_point, iterator->second)) {
            if (!enable_below(folder)) continue;
            parents.unified = true;
            for (const char* controller : controllers) parents.folders[controller] = folder;
            break;
        }
        return parents;
    }
    for (const auto& [names, group] : groups)
        for (const char* controller : controllers) {
            std::string words = names;
            std::replace(words.begin(), words.end(), ',', ' ');
            if (!has_word(words, controller)) continue;
            const auto folders = candidates(mount_point / names, group);
            const auto usable = std::ranges::find_if(folders, can_make_groups);
            if (usable != folders.end()) parents.folders[controller] = *usable;
        }
    return parents;
}

bool is_read_only(const fs::path& folder) {
    struct statvfs found {};
    return statvfs(folder.c_str(), &found) == 0 && (found.f_flag & ST_RDONLY) != 0;
}

/// Return the hierarchy that limits memory: version 2's if it is mounted, else version 1's, or an empty path.
fs::path memory_hierarchy() {
    std::error_code error;
    if (fs::exists(mount_point / "cgroup.controllers", error)) return mount_point;
    for (const auto& [names, group] : own_groups())
        if (names.find("memory") != std::string::npos && fs::exists(mount_point / names / "cgroup.procs", error))
            return mount_point / names;
    return {};
}

/// Return why the judge cannot create groups, and what to do about it on this kind of machine.
std::string why_no_groups() {
    const fs::path hierarchy = memory_hierarchy();
    const bool is_version_2 = hierarchy == mount_point, is_root = geteuid() == 0;
    if (hierarchy.empty())
        return in_container() ? "/sys/fs/cgroup has none in this container; start it with --privileged"
                              : "none are mounted; as root, type `mount -t cgroup2 cgroup2 /sys/fs/cgroup`";
    if (is_read_only(hierarchy))
        return fmt::format(
            "{} is read-only, as in most containers; start the container with --privileged, or with --cap-add "
            "SYS_ADMIN, and in it type `mount -o remount,rw {}` as root",
            hierarchy.string(), hierarchy.string());
    if (is_version_2 && !has_word(read_file(mount_point / "cgroup.controllers"), "memory"))
        return "this group's parent does not give it the controller memory; add Delegate=yes to the service that the "
               "judge runs in, or start the container with --privileged";
    if (is_version_2 && has_systemd())
        return fmt::format(
            "systemd has not delegated a group to the judge; type `systemd-run {}--scope -p Delegate=yes` before the "
            "command",
            is_root ? "" : "--user ");
    return is_root ? "the kernel refuses to create them below " + hierarchy.string()
                   : "only root can create them here; grade as root";
}

const Parents& parents() {
    static const Parents found = find_parents();
    return found;
}

struct Setting {
    const char *controller, *version_1, *version_2;
    std::string value;
    bool required = true;
};

std::vector<Setting> settings_for(std::uint64_t memory_bytes, std::uint64_t processes) {
    const std::string bytes = std::to_string(memory_bytes);
    return {
        {.controller = "memory", .version_1 = "memory.limit_in_bytes", .version_2 = "memory.max", .value = bytes},
        {.controller = "memory",
         .version_1 = "memory.memsw.limit_in_bytes",
         .version_2 = "memory.swap.max",
         .value = parents().unified ? "0" : bytes,
         .required = false},
        {.controller = "pids", .version_1 = "pids.max", .version_2 = "pids.max", .value = std::to_string(processes)}};
}

}  // namespace

std::string ControlGroupSupport::weaknesses() const {
    if (!memory && !processors && !processes && !time)
        return fmt::format(
            "No control groups: memory and processor time are limited per process, and a submission with many threads "
            "can slow down its neighbours. Reason: {}.",
            why_no_groups());
    std::vector<std::string> missing;
    if (!memory) missing.emplace_back("memory is limited per process");
    if (!processors) missing.emplace_back("a submission with many threads can slow down its neighbours");
    if (!time) missing.emplace_back("the time of processes that nobody waits for is not counted");
    if (missing.empty()) return "";
    return fmt::format("Some control groups are missing: {}.", fmt::join(missing, ", "));
}

const ControlGroupSupport& control_group_support() {
    static const ControlGroupSupport support = [] {
        const auto group = ControlGroup::make(1ull << 30, 64);
        ControlGroupSupport result;
        if (!group) return result;
        const auto has = [](const char* controller) { return parents().folders.count(controller) > 0; };
        const std::string enabled =
            parents().unified ? read_file(parents().folders.at("memory") / "cgroup.subtree_control") : "";
        result.memory = has("memory");
        result.processors = parents().unified ? has_word(enabled, "cpu") : has("cpu");
        result.processes = parents().unified ? has_word(enabled, "pids") : has("pids");
        result.time = group->cpu_s().has_value();
        return result;
    }();
    return support;
}

std::optional<ControlGroup> ControlGroup::make(std::uint64_t memory_bytes, std::uint64_t processes) {
    static std::atomic<unsigned> count = 0;
    if (parents().folders.empty()) return std::nullopt;
    const std::string name = fmt::format("warplab-{}-{}", getpid(), ++count);
    // A child that joins has only one thread. A write to `tasks`, which version 2 lacks, moves it at once; a write to
    // `cgroup.procs` first waits for all processors.
    const char* const members = parents().unified ? "cgroup.procs" : "tasks";
    ControlGroup group;
    for (const auto& [controller, parent] : parents().folders) {
        const fs::path folder = parent / name;
        if (std::ranges::find(group.folders_, folder) != group.folders_.end()) continue;
        if (!make_folder(folder)) continue;
        group.folders_.push_back(folder);
        Descriptor join(open((folder / members).c_str(), O_WRONLY | O_CLOEXEC));
        if (!join) return std::nullopt;
        group.join_files_.push_back(std::move(join));
    }
    for (const Setting& setting : settings_for(memory_bytes, processes)) {
        const fs::path folder = group.folder(setting.controller);
        const char* const file = parents().unified ? setting.version_2 : setting.version_1;
        if (folder.empty() || !fs::exists(folder / file)) continue;
        if (!write_value(folder / file, setting.value) && setting.required) return std::nullopt;
    }
    if (group.folders_.empty()) return std::nullopt;
    return group;
}

ControlGroup::ControlGroup(ControlGroup&& other) noexcept
    : folders_(std::exchange(other.folders_, {})), join_files_(std::exchange(other.join_files_, {})) {}

ControlGroup& ControlGroup::operator=(ControlGroup&& other) noexcept {
    std::swap(folders_, other.folders_);
    std::swap(join_files_, other.join_files_);
    return *this;
}

ControlGroup::~ControlGroup() {
    join_files_.clear();
    for (const fs::path& folder : folders_)
        for (int attempt = 0; attempt < 50 && rmdir(folder.c_str()) != 0; ++attempt)
            usleep(2000);  // the last processes have not ended yet
}

std::vector<int> ControlGroup::join_files() const {
    std::vector<int> files;
    for (const Descriptor& file : join_files_) files.push_back(file.get());
    return files;
}

/// Return the group's folder for this controller; an empty path if there is none.
fs::path ControlGroup::folder(const char* controller) const {
    const auto parent = parents().folders.find(controller);
    if (parent == parents().folders.end()) return {};
    for (const fs::path& folder : folders_)
        if (folder.parent_path() == parent->second) return folder;
    return {};
}

bool ControlGroup::ran_out() const {
    const fs::path memory = folder("memory");
    return !memory.empty() &&
           number_after(memory / (parents().unified ? "memory.events" : "memory.oom_control"), "oom_kill") > 0;
}

std::optional<double> ControlGroup::cpu_s() const {
    if (parents().unified) return static_cast<double>(number_after(folder("cpu") / "cpu.stat", "usage_usec")) * 1e-6;
    const fs::path account = folder("cpuacct");
    if (account.empty()) return std::nullopt;
    std::ifstream file(account / "cpuacct.usage");
    double used_ns = 0;
    if (!(file >> used_ns)) return std::nullopt;
    return used_ns * 1e-9;
}

}  // namespace warplab::sandbox
