#pragma once
#include <string>

namespace warplab {

/// Return the version and git revision, e.g. "0.1 (3f2c81d09a)". The revision ends in "-dirty" if tracked files were
/// changed, and is "unknown" outside a git checkout.
std::string version();

}  // namespace warplab
