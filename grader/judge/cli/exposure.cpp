#include "grader/judge/cli/exposure.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grader/judge/compile/cache.h"
#include "grader/judge/sandbox/compilers.h"
#include "grader/judge/sandbox/places.h"

namespace warplab {
namespace {
namespace fs = std::filesystem;

/// Return the folders that exist, with links resolved.
std::vector<fs::path> find_existing(const std::vector<fs::path>& folders) {
    std::vector<fs::path> existing_folders;
    std::error_code error;
    for (const fs::path& folder : folders)
        if (const fs::path real = fs::canonical(folder, error); !error && fs::is_directory(real, error))
            existing_folders.push_back(real);
    return existing_folders;
}

/// Return whether a user without any privileges can enter the folder.
bool is_open_to_others(fs::path folder) {
    for (; folder != folder.root_path(); folder = folder.parent_path()) {
        struct stat what {};
        if (stat(folder.c_str(), &what) == 0 && !(what.st_mode & S_IXOTH)) return false;
    }
    return true;
}

void close_to_others(const fs::path& folder) {
    if (!is_open_to_others(folder)) return;
    struct stat what {};
    if (stat(folder.c_str(), &what) == 0 && what.st_uid == geteuid() &&
        chmod(folder.c_str(), what.st_mode & 07770) == 0)
        return;
    throw UsageError(
        fmt::format("Every user can enter {0}, so graded code could list its files: without bubblewrap "
                    "it runs as a separate user that sees all paths. Type: chmod o-rwx \"{0}\"",
                    folder.string()));
}

}  // namespace

void hide_course(SandboxLevel level, const Folders& folders) {
    if (level == SandboxLevel::none) return;
    const std::vector<fs::path> secret =
        find_existing({folders.root / "solutions", folders.root / "datasets", folders.root / "tests", folders.work});
    std::vector<fs::path> hidden =
        find_existing({folders.root / "labs", folders.build / "labs", folders.build / "cache"});
    hidden.insert(hidden.end(), secret.begin(), secret.end());
    if (const std::string reason = sandbox::why_unsafe(sandbox::tool_folders(), hidden); !reason.empty())
        throw UsageError(reason);
    for (const fs::path& folder : hidden)
        if (folder.string().starts_with("/usr/"))
            throw UsageError(fmt::format(
                "{} lies in /usr, which graded code can read. Move the course to another folder.", folder.string()));
    if (level != SandboxLevel::uid) return;
    compilation::cache_folder(folders.build, level);  // throws, if at all, before any file is graded
    for (const fs::path& folder : secret) close_to_others(folder);
}

}  // namespace warplab
