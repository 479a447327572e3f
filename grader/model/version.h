#pragma once
#include <string>

namespace warplab {

/// Version and git revision, e.g. "0.1 (3f2c81d09a)"; the revision ends in "-dirty" when tracked files were changed,
/// and is "unknown" outside a git checkout.
std::string version();

}  // namespace warplab
