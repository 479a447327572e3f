#include "grader/model/version.h"

#ifndef WARPLAB_REVISION
#define WARPLAB_REVISION "unknown"
#endif

namespace warplab {

std::string version() { return "0.1 (" WARPLAB_REVISION ")"; }

}  // namespace warplab
