#include "grader/cpu/rewriter/excess.h"

#include <algorithm>

namespace warplab::rewriter {
namespace {

constexpr int deepest = 256, longest = 2000;

/// Return whether the token has one of these single characters as its text.
bool is_one_of(const Token& token, std::string_view characters) {
    return token.text.size() == 1 && characters.find(token.text[0]) != std::string_view::npos;
}

/// Return whether a token makes its statement longer. A table may have many values, and a text many parts.
bool is_counted(const Token& token) { return token.kind == Kind::identifier || token.kind == Kind::punctuation; }

}  // namespace

bool Excess::exceeds(const Token& token) {
    if (is_one_of(token, "([{") && ++depth_ > deepest)
        return exceed("brackets are nested in more than 256 levels here; split this into several statements");
    if (is_one_of(token, ")]}")) depth_ = std::max(0, depth_ - 1);
    if (is_one_of(token, ";,{}"))
        words_ = 0;
    else if (is_counted(token) && ++words_ > longest)
        return exceed(
            "this statement has more than 2000 words and operators; write a loop, or split it into several statements");
    return false;
}

bool Excess::exceed(const char* message) {
    *this = {};
    message_ = message;
    return true;
}

}  // namespace warplab::rewriter
