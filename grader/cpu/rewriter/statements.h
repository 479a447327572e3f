#pragma once
// Parses the statements of a function's body as far as needed to split kernels at barriers.

#include <optional>
#include <vector>

#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/qualifiers.h"
#include "grader/cpu/rewriter/unit.h"

namespace warplab::rewriter {

struct Statement {
    enum Kind {
        declaration,  // of variables; `variables` contains those that could be parsed
        expression,
        barrier,       // __syncthreads(); or __syncwarp();
        branch,        // if, with one or two parts
        loop,          // for, while or do, with one part
        compound,      // { … }
        jump,          // break, continue or return
        unsplittable,  // a switch or a range-based for
    };
    Kind kind = expression;
    int begin = 0, end = 0;  // tokens [begin, end)
    int shuffle = -1;        // the first __shfl… in an expression or a declaration
    int header = -1;         // the ( of an if, for, while or do
    std::vector<Statement> parts;
    Declaration variables;
};

/// Return the statements in the tokens [begin, end) of a function's body; std::nullopt if one cannot be parsed.
std::optional<std::vector<Statement>> read_statements(const Stream& stream, const Qualifiers& qualifiers, int begin,
                                                      int end);

/// Return whether the statement contains a `return`.
bool has_return(const Stream& stream, const Statement& statement);
/// Return whether a `break` or `continue` in the statement belongs to a loop around the statement.
bool leaves_loop(const Stream& stream, const Statement& statement);
/// Return whether the statement contains a barrier or a shuffle.
bool has_barrier(const Statement& statement);

}  // namespace warplab::rewriter
