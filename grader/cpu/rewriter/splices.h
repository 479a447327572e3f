#pragma once
// Line splices: a backslash at the end of a line joins it with the next one.

#include <string>
#include <string_view>

namespace warplab::rewriter {

/// Return whether the text between two tokens is empty or only line splices.
bool is_spliced(std::string_view gap);

/// Join tokens that line splices divide (`__glo\` and `bal__`): move these splices to the end of the token.
std::string join_split_tokens(std::string_view source);

}  // namespace warplab::rewriter
