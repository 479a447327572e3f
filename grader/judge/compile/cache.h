#pragma once
// Folders of finished compilations in a cache folder. A folder appears under its name only when it is complete, so that
// judges that run at the same time can share it.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "grader/common/descriptor.h"
#include "grader/judge/sandbox/process.h"

namespace warplab::compilation {

/// Return the folder of finished compilations: <build>/cache. At the level `uid`, each build has its folder in
/// /var/cache/warplab instead, because the sandbox's users cannot enter the course's folders. Only the judge's user can
/// list the folder.
std::filesystem::path cache_folder(const std::filesystem::path& build, SandboxLevel level);

/// Make sure that the disk has this much room for work; if it has less, remove the least recently used folders that no
/// process has locked. On a full disk, a tool could write only a part of its output, and the submission would seem to
/// be the reason. Throws std::runtime_error if there is still less room.
void make_room(const std::filesystem::path& cache, std::uintmax_t bytes);

/// A new folder for one piece of work; deleted at the end of its scope unless it was published.
class WorkFolder {
  public:
    /// The users who may write to the folder: `everyone` if a sandboxed compiler uses it, which runs as another user.
    /// No third user finds the folder, because its name cannot be guessed and its parent cannot be listed.
    enum class Writers { judge, everyone };
    explicit WorkFolder(const std::filesystem::path& cache, Writers writers = Writers::judge);
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

    /// Rename the folder to cache/name. If another judge was first, keep that judge's folder and delete this one.
    std::filesystem::path publish(const std::string& name);

  private:
    std::filesystem::path cache_, path_;
    Descriptor lock_;  // shows tidy() that the folder is in use, even if the clock jumps
};

/// Return cache/name if it exists, and mark it as used. The folder stays locked until this process ends or has used
/// many others.
std::optional<std::filesystem::path> find_cached(const std::filesystem::path& cache, const std::string& name);

/// Remove the least recently used folders beyond 2 GB, and unfinished work that is a day old, unless a process has
/// locked them. Most calls do nothing.
void tidy(const std::filesystem::path& cache);

/// A lock held while something that other processes also need is built or measured, so that only one process does it.
class CacheLock {
  public:
    explicit CacheLock(const std::filesystem::path& cache);

  private:
    Descriptor file_;
};

}  // namespace warplab::compilation
