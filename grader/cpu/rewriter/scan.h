#pragma once
// Scans preprocessed text, in which all macros are expanded, for code that the sanitizer would not see: functions
// without its hooks, assembly, and names of the sanitizer's functions. Also finds statements that g++ would compile too
// slowly.

#include <string>
#include <string_view>
#include <vector>

namespace warplab::rewriter {

struct HiddenCode {
    int line = 0;  // of the submission, or of a file that it includes
    std::string message;
    bool fine_on_gpu = true;
};

/// Return the first occurrence of each reason, in the order of the text. A statement that is too long comes before all
/// others. `preprocessed` is the output of `g++ -E` for a rewritten file, whose name in line markers is `shown_name`.
/// System headers are skipped.
std::vector<HiddenCode> find_hidden(std::string_view preprocessed, std::string_view shown_name);

}  // namespace warplab::rewriter
