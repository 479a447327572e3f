#pragma once
// Reads one variable declaration: `QUALIFIERS TYPE declarator, declarator … ;`.

#include <vector>

#include "grader/cpu/rewriter/qualifiers.h"
#include "grader/cpu/rewriter/unit.h"

namespace warplab::rewriter {

struct Declarator {
    int name_begin, name_end;  // several tokens in a macro (`buffer_##name`)
    int end;                   // the position after its bounds and attributes
    bool qualified = false;    // the name has a class or namespace before it: Counter::value
    bool initialised = false;
    bool ends_in_unknown_bound = false;  // name[]
};

struct Declaration {
    bool understood = false;
    int begin = 0, end = 0;             // end: the position of the semicolon, or the end of the macro
    unsigned words = 0;                 // a set of Qualifier
    std::vector<int> word_tokens;       // the positions of these words
    std::vector<int> attribute_tokens;  // alignas(16), __align__(16), __attribute__((…)), [[…]]
    std::vector<Declarator> declarators;
    bool may_have_more = false;  // a comma in an initialiser may also begin the next declarator
};

/// The meaning of the parentheses after a declared name.
enum class Parentheses { initialiser, parameters, unknown };

/// Return whether the word is an attribute that takes an argument in parentheses, as in `__launch_bounds__(256)`.
bool is_attribute_word(std::string_view word);

/// Read the declaration whose first token is at `begin`. Only declarations of variables are understood.
Declaration read_declaration(const Stream& stream, const Qualifiers& qualifiers, int begin);

/// Classify the parentheses at `open`, after a declared name. The result for `T x(name);` is unknown, because the names
/// of types are not known.
Parentheses read_parentheses(const Stream& stream, int open);

/// Return whether the word begins a statement that looks like the declaration of a variable but is not: return,
/// goto, delete and similar words.
bool begins_other_statement(std::string_view word);

/// Return the position of the first token of the statement that contains `i`. Without `qualifiers`, macros of
/// attributes are not recognised, so the statement seems to begin after them.
int statement_begin(const Stream& stream, int i, const Qualifiers* qualifiers = nullptr);

/// Return the position after the template arguments that open at `i`; -1 if they do not close.
int after_angles(const Stream& stream, int i);

}  // namespace warplab::rewriter
