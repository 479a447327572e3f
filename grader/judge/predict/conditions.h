#pragma once
// Finds preprocessor conditions that can make a file a different program on a GPU than on the CPU backend.

#include <string>

namespace warplab::predict {

/// Describe the first condition on a macro that the file does not define itself, or the first place where the value of
/// a compiler's macro may become part of the program. Return an empty string if there is neither.
std::string find_foreign_condition(const std::string& source);

}  // namespace warplab::predict
