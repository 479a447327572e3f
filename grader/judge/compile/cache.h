#pragma once
// Folders of finished compilations in a cache folder. A folder appears under its name only when it is complete, so
// judges that run at the same time share them.

#include <filesystem>
#include <optional>
#include <string>

#include "grader/judge/sandbox/process.h"

namespace warplab::compilation {

/// The folder of finished compilations: <build>/cache; at the level `uid` a folder per build in /var/cache/warplab,
/// because the sandbox's user must enter it and the course's folders are closed to that user. No other user can list
/// it.
std::filesystem::path cache_folder(const std::filesystem::path& build, SandboxLevel level);

/// A new folder for one piece of work, gone at the end of its scope unless it was published.
class WorkFolder {
  public:
    /// `open_to_all`: other users may write in it (a sandboxed compiler is another user); its name cannot be guessed
    /// and the folder around it cannot be listed.
    WorkFolder(const std::filesystem::path& cache, bool open_to_all);
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

    /// Becomes cache/name, unless another judge was first: then its folder stays and this one goes.
    std::filesystem::path publish(const std::string& name);

  private:
    std::filesystem::path cache_, path_;
};

/// cache/name when it is there; marks it as used.
std::optional<std::filesystem::path> find_cached(const std::filesystem::path& cache, const std::string& name);

/// Now and then: removes the folders used longest ago beyond 2 GB, and work that was left lying for a day.
void tidy(const std::filesystem::path& cache);

/// Held while something is built or measured that others will want too, so that it is done once.
class CacheLock {
  public:
    explicit CacheLock(const std::filesystem::path& cache);
    ~CacheLock();
    CacheLock(const CacheLock&) = delete;
    CacheLock& operator=(const CacheLock&) = delete;

  private:
    int file_;
};

}  // namespace warplab::compilation
