#include "grader/judge/sandbox/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "grader/common/descriptor.h"

namespace warplab::sandbox {
namespace {

// These constants are newer than the headers of the supported distributions.
constexpr std::uint64_t truncate_access = 1ull << 14;                 // version 3
constexpr std::uint64_t refer_access = 1ull << 13;                    // version 2
constexpr std::uint64_t tcp_access = 3;                               // version 4: bind and connect
constexpr std::uint64_t abstract_socket_scope = 1, signal_scope = 2;  // version 6

struct Ruleset {
    std::uint64_t files, network, scoped;
};

constexpr std::uint64_t basic_access = (1ull << 13) - 1;
constexpr std::uint64_t never_granted =
    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SOCK;
constexpr std::uint64_t file_access =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | truncate_access;

Ruleset ruleset_for(int version) {
    Ruleset rules{basic_access, 0, 0};
    if (version >= 2) rules.files |= refer_access;
    if (version >= 3) rules.files |= truncate_access;
    if (version >= 4) rules.network = tcp_access;
    if (version >= 6) rules.scoped = abstract_socket_scope | signal_scope;
    return rules;
}

std::size_t size_for(int version) { return version >= 6 ? 24 : version >= 4 ? 16 : 8; }

void allow(int ruleset, const std::filesystem::path& path, std::uint64_t access) {
    if (const Descriptor file(open(path.c_str(), O_PATH | O_CLOEXEC)); file) allow_below(ruleset, file.get(), access);
}

}  // namespace

std::uint64_t reading() {
    return LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
}

std::uint64_t writing() {
    return LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
           (ruleset_for(landlock_version()).files & truncate_access);
}

bool allow_below(int ruleset, int file, std::uint64_t access) {
    struct stat what {};
    fstat(file, &what);
    landlock_path_beneath_attr rule{};
    rule.allowed_access = S_ISDIR(what.st_mode) ? access : access & file_access;
    rule.parent_fd = file;
    return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

int landlock_version() {
    const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? static_cast<int>(version) : 0;
}

int landlock_ruleset(const std::vector<std::filesystem::path>& readable,
                     const std::vector<std::filesystem::path>& writable,
                     const std::vector<std::filesystem::path>& devices) {
    const int version = landlock_version();
    if (version == 0) return -1;
    const Ruleset rules = ruleset_for(version);
    const int ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &rules, size_for(version), 0));
    if (ruleset < 0) return -1;
    for (const auto& path : readable) allow(ruleset, path, reading());
    for (const auto& path : writable) allow(ruleset, path, rules.files & ~never_granted);
    for (const auto& path : devices) allow(ruleset, path, writing());
    return ruleset;
}

}  // namespace warplab::sandbox
