#include "grader/judge/device/gpu_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace warplab {
namespace {
namespace fs = std::filesystem;

/// Open a file that untrusted users cannot open, and therefore cannot lock.
Descriptor open_own(const fs::path& file) { return Descriptor(open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)); }

/// Lock the file, and return whether another process held the lock, so that this one had to wait.
bool lock(const Descriptor& file, int operation, const std::function<void()>& must_wait) {
    if (!file || flock(file.get(), operation | LOCK_NB) == 0 || errno != EWOULDBLOCK) return false;
    if (must_wait) must_wait();
    while (flock(file.get(), operation) != 0 && errno == EINTR) {
    }
    return true;
}

off_t size_of(const Descriptor& file) {
    struct stat status = {};
    return file && fstat(file.get(), &status) == 0 ? status.st_size : 0;
}

}  // namespace

GpuLock::GpuLock(const fs::path& build, const std::string& gpu, Use use, const std::function<void()>& must_wait) {
    const fs::path folder = build / "gpus";
    std::error_code error;
    fs::create_directories(folder, error);
    held_ = open_own(folder / gpu);
    turn_ = open_own(folder / (gpu + ".turn"));
    const bool waited = lock(turn_, LOCK_EX, must_wait);
    began_alone_ = !held_ || flock(held_.get(), LOCK_EX | LOCK_NB) == 0;
    lock(held_, use == Use::alone ? LOCK_EX : LOCK_SH, waited ? nullptr : must_wait);
    if (turn_ && ftruncate(turn_.get(), size_of(turn_) + 1) == 0) turns_ = size_of(turn_);
    if (turn_) flock(turn_.get(), LOCK_UN);
}

bool GpuLock::another_judge_ran() const { return !began_alone_ || size_of(turn_) != turns_; }

}  // namespace warplab
