#pragma once
// The statements of a function's body, as far as splitting kernels at barriers needs to know them.

#include <optional>
#include <vector>

#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/qualifiers.h"
#include "grader/cpu/rewriter/unit.h"

namespace warplab::rewriter {

struct Statement {
    enum Kind {
        declaration,  // of variables; `variables` holds what was understood
        expression,
        barrier,   // __syncthreads(); or __syncwarp();
        branch,    // if, with one or two parts
        loop,      // for, while or do, with one part
        compound,  // { … }
        jump,      // break, continue or return
        whole,     // a switch or a range-based for, which is not taken apart
    };
    Kind kind = expression;
    int begin = 0, end = 0;  // tokens [begin, end)
    int shuffle = -1;        // the first __shfl… in an expression or a declaration
    int header = -1;         // the ( of an if, for, while or do
    std::vector<Statement> parts;
    Declaration variables;
};

/// The statements in the tokens [begin, end) of a function's body; nothing if one is of a kind not listed above.
std::optional<std::vector<Statement>> read_statements(const Stream& stream, const Qualifiers& qualifiers, int begin,
                                                      int end);

/// Whether a jump leaves the statement: `return`, or `break` and `continue` of a loop around it.
bool has_return(const Stream& stream, const Statement& statement);
bool leaves_loop(const Stream& stream, const Statement& statement);
/// Or a shuffle.
bool has_barrier(const Statement& statement);

}  // namespace warplab::rewriter
