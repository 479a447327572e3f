#include "grader/judge/sandbox/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <utility>

namespace warplab::sandbox {
namespace {
namespace fs = std::filesystem;

bool write_value(const fs::path& file, const std::string& value) {
    const int descriptor = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool done = write(descriptor, value.data(), value.size()) == static_cast<ssize_t>(value.size());
    close(descriptor);
    return done;
}

std::uint64_t number_after(const fs::path& file, const std::string& key) {
    std::ifstream stream(file);
    std::string word;
    std::uint64_t number = 0;
    while (stream >> word >> number)
        if (word == key) return number;
    return 0;
}

/// Version 2 unless the memory controller belongs to version 1.
struct Root {
    fs::path folder;
    bool unified;
};
std::optional<Root> find_root() {
    if (access("/sys/fs/cgroup/memory/memory.limit_in_bytes", F_OK) == 0) return Root{"/sys/fs/cgroup/memory", false};
    std::ifstream file("/sys/fs/cgroup/cgroup.subtree_control");
    const std::string controllers{std::istreambuf_iterator<char>(file), {}};
    if (controllers.find("memory") != std::string::npos) return Root{"/sys/fs/cgroup", true};
    return std::nullopt;
}

}  // namespace

std::optional<MemoryGroup> MemoryGroup::make(std::uint64_t bytes) {
    static const std::optional<Root> root = find_root();
    static std::atomic<unsigned> count = 0;
    if (!root) return std::nullopt;
    const fs::path folder = root->folder / ("warplab-" + std::to_string(getpid()) + "-" + std::to_string(++count));
    if (mkdir(folder.c_str(), 0755) != 0) return std::nullopt;
    const bool limited =
        write_value(folder / (root->unified ? "memory.max" : "memory.limit_in_bytes"), std::to_string(bytes));
    if (root->unified)
        write_value(folder / "memory.swap.max", "0");
    else
        write_value(folder / "memory.memsw.limit_in_bytes", std::to_string(bytes));
    const int join_file = limited ? open((folder / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC) : -1;
    if (join_file < 0) {
        rmdir(folder.c_str());
        return std::nullopt;
    }
    return MemoryGroup(folder, root->unified, join_file);
}

MemoryGroup::MemoryGroup(fs::path folder, bool unified, int join_file)
    : folder_(std::move(folder)), unified_(unified), join_file_(join_file) {}

MemoryGroup::MemoryGroup(MemoryGroup&& other) noexcept
    : folder_(std::move(other.folder_)), unified_(other.unified_), join_file_(other.join_file_) {
    other.folder_.clear();
    other.join_file_ = -1;
}

MemoryGroup& MemoryGroup::operator=(MemoryGroup&& other) noexcept {
    std::swap(folder_, other.folder_);
    std::swap(unified_, other.unified_);
    std::swap(join_file_, other.join_file_);
    return *this;
}

MemoryGroup::~MemoryGroup() {
    if (join_file_ >= 0) close(join_file_);
    if (folder_.empty()) return;
    for (int attempt = 0; attempt < 50 && rmdir(folder_.c_str()) != 0; ++attempt) usleep(2000);  // while the last die
}

bool MemoryGroup::ran_out() const {
    return number_after(folder_ / (unified_ ? "memory.events" : "memory.oom_control"), "oom_kill") > 0;
}

}  // namespace warplab::sandbox
