#pragma once
// The variables of a kernel that the rewriter tries to split, and the places that may change them.

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "grader/cpu/rewriter/calls.h"
#include "grader/cpu/rewriter/statements.h"

namespace warplab::rewriter {

struct Variable {
    enum Origin { parameter, shared, header, local };  // header: declared in the header of a for
    std::string_view name;
    Origin origin = local;
    int at = 0;              // the token of its name, in the declaration
    int from = 0, to = 0;    // its scope: tokens [from, to)
    int declaration = 0;     // the declaration's first token
    int specifiers_end = 0;  // after `const float`
    int begin = 0;           // the beginning of its declarator, such as `*p[4] = …`
    int bounds_end = 0;      // after its name and bounds
    int end = 0;             // after its initialiser
    bool is_const = false, is_pointer = false, is_array = false, is_reference = false;
    bool is_initialised = false;
    bool is_constructed = false;  // Walk walk(first, stride)
    std::vector<int> changes;     // tokens that may change its value
    bool escapes = false;         // code takes its address or a reference to it
};

class Variables {
  public:
    Variables(const Stream& stream, const Unit& unit, const Calls& calls)
        : stream_(stream), unit_(unit), calls_(calls) {}

    /// Add the parameters in the parentheses that open at `open`; their scope ends at `end`. Return false if they are
    /// not understood.
    bool add_parameters(int open, int end);
    /// Add the variables of a declaration; their scope ends at `to`.
    void add(const Declaration& declaration, int to, Variable::Origin origin);
    /// Return whether no variable hides another.
    bool are_distinct() const;
    /// Find the changes of all variables in the tokens [begin, end).
    void find_changes(int begin, int end);

    std::vector<Variable>& all() { return all_; }
    /// Return the variable of this name whose scope contains the token at `at`; otherwise null.
    Variable* find(std::string_view name, int at);
    bool has(std::string_view name) const { return by_name_.count(name) != 0; }

    /// Call visit(name, position) for each name in the tokens [begin, end), including names in macros, but not for
    /// members of objects.
    template <class Visit>
    void visit_names(int begin, int end, Visit visit) const {
        for (int i = begin; i < end; ++i) {
            if (!stream_.is_identifier(i) || is_member(i)) continue;
            visit(stream_[i], i);
            if (unit_.macro_names.count(stream_[i]))
                for (const auto word : words_of_macro(stream_[i])) visit(word, i);
        }
    }
    bool is_member(int i) const { return stream_[i - 1] == "." || stream_[i - 1] == "->" || stream_[i - 1] == "::"; }
    /// Return whether an assignment such as = or += is at `i`.
    bool is_assignment(int i) const;
    /// Return whether ++ or -- is at `i`.
    bool is_increment(int i) const;
    /// Return whether the text around the name at `i` may change the variable, as in x = 1, ++x, x.y, x[0], &x and
    /// f(x).
    bool may_change(int i) const;
    /// Return the identifiers in the macro's text, and in the macros that it uses.
    const std::vector<std::string_view>& words_of_macro(std::string_view name) const;

  private:
    /// Return whether the next token follows without white space.
    bool touches_next(int i) const {
        return stream_.has(i + 1) && stream_.tokens[i].end == stream_.tokens[i + 1].begin;
    }
    void add_one(Variable variable);
    void note_use(int i, Variable& variable);
    void note_group(int close);
    void note_reference(int i);
    void mark_all(int begin, int end);
    bool is_plain_group(int open) const;
    void note_argument(int first, int next, Variable& variable, int at);

    const Stream& stream_;
    const Unit& unit_;
    const Calls& calls_;
    std::vector<Variable> all_;
    std::unordered_map<std::string_view, std::vector<int>> by_name_;
    mutable std::unordered_map<std::string_view, std::vector<std::string_view>> words_;
};

}  // namespace warplab::rewriter
