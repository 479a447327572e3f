#pragma once
// Keeps the course's own files out of sight of sandboxed code.

#include "grader/judge/judge.h"

namespace warplab {

/// Makes sure that code in a sandbox of this level can neither read nor name the course's solutions, datasets, tests
/// and work. Throws UsageError, with what to type, if a compiler's folder would show them. Level `uid`: closes these
/// folders to other users, because that level keeps no path out of sight; throws UsageError if they are not the judge's
/// own.
void hide_course(SandboxLevel level, const Folders& folders);

}  // namespace warplab
