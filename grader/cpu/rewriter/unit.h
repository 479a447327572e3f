#pragma once
// A source file as the rewriter sees it: the tokens that are compiled, with their brackets matched, and the macros it
// defines. Everything here is linear in the size of the file.

#include <string_view>
#include <unordered_set>
#include <vector>

#include "grader/cpu/rewriter/tokenizer.h"

namespace warplab::rewriter {

/// Tokens that g++ sees in a row: the file without its directives, or one macro's replacement list. Positions outside
/// it read as the empty text, so neighbours can be asked for without a check.
class Stream {
  public:
    std::vector<Token> tokens;
    std::vector<int> match;          // of a bracket: the position of its partner; -1 without one
    std::vector<int> block;          // position of the innermost { around; -1 outside all
    std::vector<char> at_namespace;  // directly in the file, a namespace or extern "C" {}
    std::vector<int> branch;         // of the #if around, a number for each; 0 outside all
    bool is_macro = false;

    int size() const { return static_cast<int>(tokens.size()); }
    bool has(int i) const { return i >= 0 && i < size(); }
    std::string_view operator[](int i) const { return has(i) ? tokens[i].text : std::string_view(); }
    bool is_identifier(int i) const { return has(i) && tokens[i].kind == Kind::identifier; }
    /// Position after the bracket that opens at `i`, or after `i` when it has no partner.
    int after_group(int i) const { return has(i) && match[i] > i ? match[i] + 1 : i + 1; }
    /// The tokens [begin, end) on one line, with a space where the source has any.
    std::string text(int begin, int end) const;
};

struct Macro {
    std::string_view name;
    std::size_t at;  // byte of the source
    bool has_parameters;
    std::vector<std::string_view> parameters;  // without names: ...
    Stream body;
};

/// From one #if, #elif or #else to the next directive of its conditional.
struct ConditionalBranch {
    std::vector<Token> directive;
    int begin, end;  // of the code's tokens
};

struct Conditional {
    std::vector<ConditionalBranch> branches;
    std::vector<Token> endif;
    bool is_deep = false;  // in more conditionals than anybody writes
};

struct Unit {
    Stream code;
    std::vector<Conditional> by_architecture;   // those that ask for __CUDA_ARCH__
    std::vector<std::size_t> other_directives;  // where those begin that are no part of conditionals
    std::vector<Macro> macros;
    std::vector<Token> includes;         // with < > or quotes
    std::vector<Token> line_directives;  // #line, # 1 "file", and digraphs that open a directive
    std::unordered_set<std::string_view> macro_names;
};

/// Leaves out what lies in `#if 0` and in branches that are not for the CPU backend (`__WARPLAB_CPU__`). Other
/// conditions are not evaluated: all their branches are read, each from the brackets that were open at the #if.
Unit read_unit(std::string_view source);

}  // namespace warplab::rewriter
