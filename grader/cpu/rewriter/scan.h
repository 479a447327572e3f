#pragma once
// Looks in preprocessed text, where macros hide nothing any more, for what would take code out of the sanitizer's
// sight: functions without its hooks, assembler, names of its own functions.

#include <string>
#include <string_view>
#include <vector>

namespace warplab::rewriter {

struct Hidden {
    int line = 0;  // of the submission
    std::string message;
};

/// `preprocessed` is what `g++ -E` wrote of a rewritten file, which is called `shown_name` in its line markers. Headers
/// of the system are left out. In the order of the text, the first of each reason.
std::vector<Hidden> find_hidden(std::string_view preprocessed, std::string_view shown_name);

}  // namespace warplab::rewriter
