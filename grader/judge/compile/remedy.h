#pragma once
// Suggests a remedy for a compiler's error: the right signature, a cast, or a missing character.

#include <string>
#include <vector>

#include "grader/judge/compile/diagnostics.h"

namespace warplab::compilation {

/// Return a suggestion for the error, which is one of `all` in the student's file; "" if there is none.
std::string remedy_for(const Diagnostic& error, const std::vector<Diagnostic>& all, const std::string& source);

}  // namespace warplab::compilation
