// Warns about `for (…; i < n; ++i);`: the semicolon is the loop's body, and the intended body runs only once.

#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

/// Return whether the loop with this header only counts: it has a step, calls no function and uses no memory.
bool only_counts(const Stream& code, int open) {
    static const Words others("( [ { -> & *");
    int parts = 0, step = open;
    for (int i = open + 1; i < code.match[open]; ++i) {
        const bool begins_lambda = code[i] == "{" && (code[i - 1] == ")" || code[i - 1] == "]");
        if (others.has(code[i]) && (parts > 0 || begins_lambda)) return false;
        if (code[i] == ";") ++parts, step = i;
    }
    return parts == 2 && step + 1 < code.match[open];
}

}  // namespace

void warn_of_empty_loops(Context& context) {
    const Stream& code = context.unit.code;
    for (int i = 0; i < code.size(); ++i) {
        if (code[i] != "for" || code[i + 1] != "(" || code.match[i + 1] < 0) continue;
        const int end = code.match[i + 1] + 1;
        if (code[end] == ";" && only_counts(code, i + 1))
            context.warn(code.tokens[end],
                         "this ; is the whole body of the loop; what follows runs once, after the loop");
    }
}

}  // namespace warplab::rewriter
