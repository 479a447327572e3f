#pragma once
// Changes to a text, stored separately from it and applied once.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "grader/cpu/rewriter/tokenizer.h"

namespace warplab::rewriter {

/// A message to the student, at a byte of the source.
struct Problem {
    std::size_t at;
    std::string message;
    bool fine_on_gpu = false;  // the code is correct CUDA that only the CPU backend does not support
};

class Edits {
  public:
    void replace(std::size_t begin, std::size_t end, std::string text) {
        edits_.push_back({begin, end, std::move(text)});
    }
    void replace(const Token& token, std::string text) { replace(token.begin, token.end, std::move(text)); }
    void remove(const Token& token) { replace(token, ""); }
    void insert_before(const Token& token, std::string text) {
        edits_.push_back({token.begin, token.begin, std::move(text)});
    }
    void insert_after(const Token& token, std::string text) {
        edits_.push_back({token.end, token.end, std::move(text)});
    }

    void add(const Edits& others) { edits_.insert(edits_.end(), others.edits_.begin(), others.edits_.end()); }

    /// Return the text after all edits. If two edits overlap, only the one that begins first is made.
    std::string apply(std::string_view source) const;

  private:
    struct Edit {
        std::size_t begin, end;
        std::string text;
    };
    std::vector<Edit> edits_;
};

}  // namespace warplab::rewriter
