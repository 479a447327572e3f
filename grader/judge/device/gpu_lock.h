#pragma once
// Shares a GPU between the judges of a build folder: while one judge times a program, the others run no program
// on it. A check may fail because another program runs at the same time and, for example, takes all memory.

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>

#include "grader/common/descriptor.h"

namespace warplab {

class GpuLock {
  public:
    enum class Use { with_others, alone };

    /// Wait until the GPU is free for this use. `gpu` identifies it, for example by its PCI address. `must_wait` is
    /// called at most once. A judge that waits for exclusive use has priority over later ones. If the file
    /// system does not support locks, or the folder cannot be written, return at once.
    GpuLock(const std::filesystem::path& build, const std::string& gpu, Use use,
            const std::function<void()>& must_wait);

    /// Return whether another judge could have run a program since this lock was taken.
    bool another_judge_ran() const;

  private:
    Descriptor held_, turn_;
    bool began_alone_ = true;
    off_t turns_ = 0;  // the number of all judges' turns when this lock was taken
};

}  // namespace warplab
