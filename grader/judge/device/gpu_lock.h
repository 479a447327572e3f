#pragma once
// Judges that share a build folder take turns on a GPU: while one times, no other one runs a program.

#include <filesystem>
#include <functional>
#include <string>

#include "grader/common/descriptor.h"

namespace warplab {

class GpuLock {
  public:
    enum class Use { with_others, alone };

    /// Wait until the GPU is free for this use. `gpu` names it, such as its PCI address. `must_wait` is called at most
    /// once. A judge that waits to be alone goes before those that come later. Where the folder or the file system
    /// allows no lock, nobody waits.
    GpuLock(const std::filesystem::path& build, const std::string& gpu, Use use,
            const std::function<void()>& must_wait);

  private:
    Descriptor held_;
};

}  // namespace warplab
