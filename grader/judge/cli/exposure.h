#pragma once
// Hides the course's own files from sandboxed code.

#include "grader/judge/judge.h"

namespace warplab {

/// Ensure that code in a sandbox of this level can neither read nor list the course's solutions, datasets, tests and
/// work. Throw UsageError, with the command to type, if a compiler's folder would expose them. At level `uid`, which
/// hides no paths, remove other users' access to these folders; throw UsageError if the judge does not own them.
void hide_course(SandboxLevel level, const Folders& folders);

}  // namespace warplab
