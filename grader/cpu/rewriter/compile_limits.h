#pragma once
// Limits the length of statements and the depth of brackets, because g++ needs time quadratic in them, and can crash.

#include <string>
#include <vector>

#include "grader/cpu/rewriter/tokenizer.h"

namespace warplab::rewriter {

/// Counts open brackets, and the words of a statement. Pass it the tokens of a file in order. Programs that people
/// write stay far below the limits.
class CompileLimits {
  public:
    /// Return whether the program exceeds a limit with this token. If so, all counts start again at 0.
    bool exceeds(const Token& token);

    /// Return the message about the limit that was exceeded.
    const std::string& message() const { return message_; }

  private:
    bool exceed(const char* message);

    int depth_ = 0, words_ = 0;
    std::string message_;
};

}  // namespace warplab::rewriter
