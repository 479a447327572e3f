#pragma once
// Digraphs: other spellings of [ ] { } # ## that C++ allows.

#include <string>

namespace warplab::rewriter {

/// Replace each digraph with the character that it stands for and a space, so that all positions stay the same.
void replace_digraphs(std::string& source);

}  // namespace warplab::rewriter
