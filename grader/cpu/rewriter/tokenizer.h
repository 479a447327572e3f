#pragma once
// Splits C++ source into tokens without parsing it. Comments, white space and line splices separate tokens and are not
// tokens. Any bytes are accepted; bytes that are not C++ become punctuation, which g++ then reports.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace warplab::rewriter {

enum class Kind : std::uint8_t { identifier, number, string, character, header, punctuation };

struct Token {
    Kind kind;
    bool first_on_line;       // only white space and comments precede it on the line
    std::uint32_t directive;  // the number of its preprocessor directive, from 1; 0 outside directives
    std::size_t begin, end;   // bytes [begin, end) of the source
    std::string_view text;    // those bytes; `<<<` for `<< <`
};

/// Return the tokens in order. `source` must outlive them and use LF line endings. These are the punctuation tokens of
/// more than one character: `<<<`, `<<`, `<=`, `>=`, `::`, `->`, `##`, `&&`, `||`, `...`. A closing `>>>` is three
/// tokens, because it can also close templates. `<< <` on one line is one token, with the text `<<<`.
std::vector<Token> tokenize(std::string_view source);

/// Return whether a header may follow the name of this directive: #include, #include_next, #import, #embed.
bool is_include(std::string_view directive);

}  // namespace warplab::rewriter
