#pragma once
// Rewrites CUDA C++ as C++ for the CPU backend's cuda_runtime.h (OUTPUT.md shows how).

#include <string>
#include <string_view>
#include <vector>

#include "grader/cpu/rewriter/edits.h"

namespace warplab::rewriter {

struct Rewritten {
    std::string text;               // the input of g++: a #line directive, then the rewritten lines of the source
    std::vector<Problem> problems;  // in the order of their places; if there are any, the text is not usable
    std::vector<Problem> warnings;  // mistakes that CUDA accepts
    std::string source;             // the text to which the problems' places refer: LF line endings, no byte-order mark
};

/// Selects how threads wait at barriers. Split kernels run as loops over the threads, from barrier to barrier
/// (split.h). All other kernels, and all kernels in graded programs, have a fiber for each thread.
enum class Barriers { by_fibers, split };

/// Rewrite a source, which may contain any bytes. `shown_name` is the file's name in g++'s messages.
Rewritten rewrite(std::string_view source, std::string_view shown_name, Barriers barriers = Barriers::by_fibers);

/// Return the problems or the warnings in g++'s format: name, line, column, the line itself and a caret.
std::string show_problems(const Rewritten& rewritten, std::string_view shown_name);
std::string show_warnings(const Rewritten& rewritten, std::string_view shown_name);

}  // namespace warplab::rewriter
