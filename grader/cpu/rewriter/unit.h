#pragma once
// A source file for the rewriter: the tokens that are compiled, with their brackets matched, and the macros that the
// file defines. All operations here take time linear in the size of the file.

#include <string_view>
#include <unordered_set>
#include <vector>

#include "grader/cpu/rewriter/tokenizer.h"

namespace warplab::rewriter {

/// A sequence of tokens that g++ sees: the file without its directives, or one macro's replacement list. For a position
/// outside it, operator[] returns an empty text, so callers can read adjacent tokens without a bounds check.
class Stream {
  public:
    std::vector<Token> tokens;
    std::vector<int> match;   // for a bracket, the position of its partner; -1 without a partner
    std::vector<int> around;  // position of the innermost enclosing bracket; -1 if none, or if a ; separates the two
    std::vector<int> block;   // position of the innermost enclosing {; -1 outside all
    std::vector<char> at_namespace;  // whether the token is directly in the file, a namespace or extern "C" {}
    std::vector<int> branch;         // the number of the innermost enclosing branch of an #if; 0 outside all
    bool is_macro = false;

    int size() const { return static_cast<int>(tokens.size()); }
    bool has(int i) const { return i >= 0 && i < size(); }
    std::string_view operator[](int i) const { return has(i) ? tokens[i].text : std::string_view(); }
    bool is_identifier(int i) const { return has(i) && tokens[i].kind == Kind::identifier; }
    /// If `i` is an opening bracket with a partner, return the position after the partner; otherwise i + 1.
    int after_group(int i) const { return has(i) && match[i] > i ? match[i] + 1 : i + 1; }
    /// Return the tokens [begin, end) on one line, with a space where the source has white space.
    std::string text(int begin, int end) const;
};

struct Macro {
    std::string_view name;
    std::size_t at;  // the byte of the source at which its name begins
    bool has_parameters;
    std::vector<std::string_view> parameters;  // their names; ... has none
    Stream body;
};

/// The range from one #if, #elif or #else to the next directive of its conditional.
struct ConditionalBranch {
    std::vector<Token> directive;
    int begin, end;  // a range of the code's tokens
};

struct Conditional {
    std::vector<ConditionalBranch> branches;
    std::vector<Token> endif;
    bool is_deep = false;  // nested more deeply than in any real program
};

struct UnrollPragma {
    Token word;    // unroll
    int next;      // the position of the code's token after the directive
    bool forbids;  // #pragma unroll 1
};

struct Unit {
    Stream code;
    std::vector<Conditional> by_architecture;   // the conditionals that test __CUDA_ARCH__
    std::vector<std::size_t> other_directives;  // beginnings of the directives that are not part of conditionals
    std::vector<Macro> macros;
    std::vector<Token> includes;            // with < > or quotes
    std::vector<Token> line_directives;     // #line, # 1 "file"
    std::vector<Token> unclear_directives;  // directives that g++ may split into tokens differently from tokenize()
    std::vector<Token> target_pragmas;      // the word GCC of #pragma GCC target
    std::vector<UnrollPragma> unroll_pragmas;
    std::unordered_set<std::string_view> macro_names;
};

/// Read a file without the branches that g++ certainly skips, such as `#if 0` and `#ifndef __WARPLAB_CPU__`. If a
/// condition depends on other macros, all branches are read, and each begins with the brackets that were open at the
/// #if.
Unit read_unit(std::string_view source);

}  // namespace warplab::rewriter
