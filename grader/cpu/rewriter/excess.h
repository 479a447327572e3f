#pragma once
// Finds statements that are too long, and brackets that are nested too deeply: g++ needs time quadratic in their
// length, and can crash.

#include <string>
#include <vector>

#include "grader/cpu/rewriter/tokenizer.h"

namespace warplab::rewriter {

/// Reads the tokens of a file in order. Programs that people write stay far below its limits.
class Excess {
  public:
    /// Return whether the program exceeds a limit with this token. After that, count again from 0.
    bool exceeds(const Token& token);

    /// Return the message about the limit that was exceeded.
    const std::string& message() const { return message_; }

  private:
    bool exceed(const char* message);

    int depth_ = 0, words_ = 0;
    std::string message_;
};

}  // namespace warplab::rewriter
