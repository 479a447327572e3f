#include "grader/judge/compile/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "grader/common/hash.h"

namespace warplab::compilation {
namespace {
namespace fs = std::filesystem;

constexpr std::uintmax_t max_cache_bytes = 2ull << 30;
constexpr std::chrono::hours kept_after_use{1};          // tidy() removes no folder that was used more recently
constexpr std::chrono::minutes kept_if_disk_is_full{1};  // the same for make_room()
constexpr std::uintmax_t min_room_bytes = 512ull << 20;  // many times what an honest file needs

std::uint64_t random_number() {
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) throw std::runtime_error("no random numbers");
    return number;
}

void make_folder(const fs::path& folder, mode_t mode) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error || chmod(folder.c_str(), mode) != 0)
        throw std::runtime_error(fmt::format("cannot create the folder {}: {}", folder.string(),
                                             error ? error.message() : std::strerror(errno)));
}

std::uintmax_t bytes_in(const fs::path& folder) {
    std::uintmax_t bytes = 0;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(folder, error))
        if (entry.is_regular_file(error)) bytes += entry.file_size(error);
    return bytes;
}

struct CachedFolder {
    fs::path folder;
    fs::file_time_type used;
};

/// Return all folders of finished work, the most recently used first.
std::vector<CachedFolder> folders_of(const fs::path& cache) {
    std::vector<CachedFolder> folders;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(cache, error))
        if (entry.is_directory(error) && entry.path().filename() != "work")
            folders.push_back({entry.path(), entry.last_write_time(error)});
    std::ranges::sort(folders, std::greater<>(), &CachedFolder::used);
    return folders;
}

Descriptor open_folder(const fs::path& folder) {
    return Descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Open a folder and lock it until the descriptor is closed. Return an empty descriptor if another process has locked
/// the folder.
Descriptor lock_folder(const fs::path& folder) {
    Descriptor opened = open_folder(folder);
    return opened && flock(opened.get(), LOCK_EX | LOCK_NB) == 0 ? std::move(opened) : Descriptor();
}

void remove_unlocked(const fs::path& folder) {
    std::error_code error;
    if (const Descriptor lock = lock_folder(folder); lock) fs::remove_all(folder, error);
}

bool has_room(const fs::path& folder, std::uintmax_t bytes) {
    std::error_code error;
    const fs::space_info disk = fs::space(folder, error);
    return error || disk.available >= bytes;
}

/// Keep an open folder locked, so that no judge removes it, until this process ends or has used many other folders.
void keep_locked(Descriptor folder) {
    constexpr std::size_t max_folders = 256;  // many times the programs of a stage
    static std::mutex mutex;
    static std::deque<Descriptor> used;
    if (!folder || flock(folder.get(), LOCK_SH | LOCK_NB) != 0) return;
    const std::lock_guard lock(mutex);
    used.push_back(std::move(folder));
    if (used.size() > max_folders) used.pop_front();
}

}  // namespace

void make_room(const fs::path& cache, std::uintmax_t bytes) {
    const fs::path work = cache / "work";
    if (has_room(work, bytes)) return;
    const auto now = fs::file_time_type::clock::now();
    const std::vector<CachedFolder> folders = folders_of(cache);
    for (auto entry = folders.rbegin(); entry != folders.rend() && entry->used < now - kept_if_disk_is_full; ++entry) {
        remove_unlocked(entry->folder);
        if (has_room(work, bytes)) return;
    }
    throw std::runtime_error(
        fmt::format("the disk of {} has less than {} MB left; make room there", work.string(), bytes >> 20));
}

fs::path cache_folder(const fs::path& build, SandboxLevel level) {
    if (level != SandboxLevel::uid) return fs::absolute(build) / "cache";
    const fs::path all = "/var/cache/warplab";
    const fs::path build_folder = all / sha256(fs::weakly_canonical(build).string()).substr(0, 16);
    for (const fs::path& folder : {all, build_folder}) make_folder(folder, 0711);
    return build_folder;
}

WorkFolder::WorkFolder(const fs::path& cache, Writers writers) : cache_(cache) {
    make_folder(cache, 0711);  // other users cannot list the submissions' programs
    make_folder(cache / "work", 0711);
    make_room(cache, min_room_bytes);
    path_ = cache / "work" / fmt::format("{:016x}{:016x}", random_number(), random_number());
    make_folder(path_, 0755);
    lock_ = lock_folder(path_);  // before a submission's compiler can open it
    make_folder(path_, writers == Writers::everyone ? 0777 : 0755);
}

WorkFolder::~WorkFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
}

fs::path WorkFolder::publish(const std::string& name) {
    const fs::path target = cache_ / name;
    std::error_code error;
    fs::rename(path_, target, error);
    if (error && !fs::is_directory(target))
        throw std::runtime_error(fmt::format("cannot keep {}: {}", target.string(), error.message()));
    if (!error) path_.clear();
    keep_locked(error ? open_folder(target) : std::move(lock_));
    return target;
}

std::optional<fs::path> find_cached(const fs::path& cache, const std::string& name) {
    const fs::path folder = cache / name;
    if (utimensat(AT_FDCWD, folder.c_str(), nullptr, 0) != 0) {
        std::error_code error;  // a read-only cache still works
        if (!fs::is_directory(folder, error)) return std::nullopt;
    }
    keep_locked(open_folder(folder));
    return folder;
}

void tidy(const fs::path& cache) {
    constexpr std::uint64_t calls_per_tidying = 128;  // examining thousands of files takes long
    if (random_number() % calls_per_tidying != 0) return;
    std::error_code error;
    const auto now = fs::file_time_type::clock::now();
    for (const auto& entry : fs::directory_iterator(cache / "work", error))
        if (entry.last_write_time(error) < now - std::chrono::hours(24)) remove_unlocked(entry.path());
    std::uintmax_t bytes = 0;
    for (const CachedFolder& entry : folders_of(cache))
        if ((bytes += bytes_in(entry.folder)) > max_cache_bytes && entry.used < now - kept_after_use)
            remove_unlocked(entry.folder);
}

CacheLock::CacheLock(const fs::path& cache) {
    if (!fs::exists(cache)) make_folder(cache, 0711);
    file_ = Descriptor(open((cache / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    if (file_) fchmod(file_.get(), 0600);  // any user who can open it could hold the lock
    if (file_) flock(file_.get(), LOCK_EX);
}

}  // namespace warplab::compilation
