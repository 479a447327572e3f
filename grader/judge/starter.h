#pragma once
// Recognises a file that the student has not edited yet.

#include <optional>

#include "grader/judge/compile/source.h"
#include "grader/model/manifest.h"
#include "grader/model/report.h"

namespace warplab {

/// Return the failure of a file that is the stage's starter, apart from comments and white space; it names a file in
/// the same folder that the student may have edited instead. Return nothing for any other file.
std::optional<Failure> find_starter(const Lab& lab, const Stage& stage, const Source& source);

}  // namespace warplab
