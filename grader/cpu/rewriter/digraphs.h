#pragma once
// Digraphs: other spellings of [ ] { } # ## that C++ allows.

#include <string>

namespace warplab::rewriter {

/// Replace each digraph with the token that it stands for, followed by spaces, so that all positions stay the same.
void replace_digraphs(std::string& source);

}  // namespace warplab::rewriter
