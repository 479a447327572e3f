#include "grader/cpu/rewriter/compile_limits.h"

#include <algorithm>

namespace warplab::rewriter {
namespace {

constexpr int max_depth = 256, max_words = 2000;

/// Return whether the token is one of these characters.
bool is_one_of(const Token& token, std::string_view characters) {
    return token.text.size() == 1 && characters.find(token.text[0]) != std::string_view::npos;
}

/// Return whether a token counts. Literals do not, because a table may have many values, and a string many parts.
bool is_counted(const Token& token) { return token.kind == Kind::identifier || token.kind == Kind::punctuation; }

}  // namespace

bool CompileLimits::exceeds(const Token& token) {
    if (is_one_of(token, "([{") && ++depth_ > max_depth)
        return exceed("brackets are nested more than 256 levels deep here; split this into several statements");
    if (is_one_of(token, ")]}")) depth_ = std::max(0, depth_ - 1);
    if (is_one_of(token, ";,{}"))
        words_ = 0;
    else if (is_counted(token) && ++words_ > max_words)
        return exceed(
            "this statement has more than 2000 words and operators; write a loop, or split it into several statements");
    return false;
}

bool CompileLimits::exceed(const char* message) {
    *this = {};
    message_ = message;
    return true;
}

}  // namespace warplab::rewriter
