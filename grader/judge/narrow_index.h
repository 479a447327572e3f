#pragma once
// Looks for an index of type int if a skipped dataset has more elements than an int can count.

#include <string>
#include <vector>

#include "grader/model/manifest.h"

namespace warplab {

/// Return a note about the first index of type int in a kernel if a size of a skipped dataset exceeds the range of int;
/// otherwise an empty string. `source` is the text of the student's file.
std::string note_narrow_index(const std::vector<const Dataset*>& skipped, const std::string& source);

}  // namespace warplab
