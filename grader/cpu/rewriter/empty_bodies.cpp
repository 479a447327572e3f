// Warns about `for (…; i < n; ++i);` and `if (i < n);`: the semicolon is the whole body, and the statement that was
// meant to be the body runs exactly once.

#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

/// Return whether the loop with the header at `open` only counts: its header has a step, and its condition and step
/// call no function and access no memory.
bool only_counts(const Stream& code, int open) {
    static const Words calls_and_accesses("( [ { -> & *");
    int parts = 0, step = open;
    for (int i = open + 1; i < code.match[open]; ++i) {
        const bool begins_lambda = code[i] == "{" && (code[i - 1] == ")" || code[i - 1] == "]");
        if (calls_and_accesses.has(code[i]) && (parts > 0 || begins_lambda)) return false;
        if (code[i] == ";") ++parts, step = i;
    }
    return parts == 2 && step + 1 < code.match[open];
}

/// Warn if the `if` at `i` has no body: `if (i < n);`, but not `if (i < n); else …`.
void warn_of_empty_if(Context& context, int i) {
    const Stream& code = context.unit.code;
    const int open = code[i + 1] == "constexpr" ? i + 2 : i + 1;
    if (code[open] != "(" || code.match[open] < 0) return;
    const int end = code.match[open] + 1;
    if (code[end] == ";" && code[end + 1] != "else")
        context.warn(code.tokens[end], "this ; is the whole body of the if; the statement after it always runs");
}

}  // namespace

void warn_of_empty_bodies(Context& context) {
    const Stream& code = context.unit.code;
    for (int i = 0; i < code.size(); ++i) {
        if (code[i] == "if") warn_of_empty_if(context, i);
        if (code[i] != "for" || code[i + 1] != "(" || code.match[i + 1] < 0) continue;
        const int end = code.match[i + 1] + 1;
        if (code[end] == ";" && only_counts(code, i + 1))
            context.warn(code.tokens[end],
                         "this ; is the whole body of the loop; the statement after it runs once, after the loop");
    }
}

}  // namespace warplab::rewriter
