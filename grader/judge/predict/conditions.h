#pragma once
// Conditions of the preprocessor by which a file can be another program for a GPU than for the CPU backend.

#include <string>

namespace warplab::predict {

/// Return the first condition on a macro that the file does not define itself, or the first place where such a macro may
/// become a value, in words, or an empty string.
std::string find_foreign_condition(const std::string& source);

}  // namespace warplab::predict
