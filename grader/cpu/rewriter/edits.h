#pragma once
// Changes to a text, kept apart from it and applied once.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "grader/cpu/rewriter/tokenizer.h"

namespace warplab::rewriter {

/// Something to tell the student, at a byte of the source.
struct Problem {
    std::size_t at;
    std::string message;
    bool fine_on_gpu;  // only the CPU backend cannot do it
};

/// From byte `output` of the result on, text was copied from `source`, or made there.
struct Place {
    std::size_t output, source;
    std::size_t shows;  // what a complaint about the made text concerns
    bool copied;
};

struct Edited {
    std::string text;
    std::vector<Place> places;  // in order; before the first nothing has moved
};

class Edits {
  public:
    /// `shows` is what g++'s complaints about the new text concern, when it is not what it replaces.
    void replace(const Token& token, std::string text, const Token* shows = nullptr) {
        add(token.begin, token.end, std::move(text), shows ? shows->begin : token.begin);
    }
    void remove(const Token& token) { replace(token, ""); }
    void insert_before(const Token& token, std::string text, const Token* shows = nullptr) {
        add(token.begin, token.begin, std::move(text), shows ? shows->begin : token.begin);
    }
    void insert_after(const Token& token, std::string text, const Token* shows = nullptr) {
        add(token.end, token.end, std::move(text), shows ? shows->begin : token.begin);
    }

    /// Makes all edits; where two overlap the one that begins first wins.
    Edited apply(std::string_view source) const;

  private:
    struct Edit {
        std::size_t begin, end;
        std::string text;
        std::size_t shows;
    };
    void add(std::size_t begin, std::size_t end, std::string text, std::size_t shows) {
        edits_.push_back({begin, end, std::move(text), shows});
    }
    std::vector<Edit> edits_;
};

}  // namespace warplab::rewriter
