#pragma once
// Splits C++ source into tokens without understanding it. Comments, white space and line splices separate tokens and
// are not tokens. Any bytes are accepted; what is not C++ comes out as punctuation, for g++ to complain about.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warplab::rewriter {

enum class Kind : std::uint8_t { identifier, number, string, character, header, punctuation };

struct Token {
    Kind kind;
    bool first_on_line;       // nothing but white space and comments before it
    std::uint32_t directive;  // which preprocessor directive it belongs to, from 1; 0 outside them
    std::size_t begin, end;   // bytes [begin, end) of the source
    std::string_view text;    // those bytes; `<<<` for `<< <`
};

/// Tokens in order; `source` must outlive them and use LF line ends. Punctuation of more than one character: `<<<`,
/// `<<`, `<=`, `>=`, `::`, `->`, `##`, `&&`, `||`, `...`. A closing `>>>` is three tokens, because templates close with
/// it too. `<< <` on one line is one token, with the text `<<<`.
std::vector<Token> tokenize(std::string_view source);

}  // namespace warplab::rewriter
