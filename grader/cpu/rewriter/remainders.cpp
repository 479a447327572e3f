// Warns about `x % 2 * n == 0`: % and * are evaluated from left to right, so this tests (x % 2) * n, and n does not
// matter. The remainder by the product was meant.

#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

constexpr int max_product = 64;  // tokens; limits the time for a file that is designed to be slow

bool is_name_or_number(const Stream& code, int i) {
    return code.has(i) && (code.is_identifier(i) || code.tokens[i].kind == Kind::number);
}

/// Return the position after the operand at `i`, such as `2`, `blockDim.x` or `(n + 1)`; `i` if there is none.
int after_operand(const Stream& code, int i) {
    if (!is_name_or_number(code, i) && code[i] != "(") return i;
    i = code.after_group(i);
    while (true) {
        if (code[i] == "(" || code[i] == "[")
            i = code.after_group(i);
        else if ((code[i] == "." || code[i] == "->" || code[i] == "::") && code.is_identifier(i + 1))
            i += 2;
        else
            return i;
    }
}

/// Return the first token of the product that ends before `end`, such as `a * b.x`.
int product_begin(const Stream& code, int end) {
    static const Words joins(". -> :: * / %"), closes(") ]");
    int i = end - 1;
    while (i > end - max_product && i >= 0 && code[i] != "return") {
        if (closes.has(code[i]) && code.match[i] >= 0)
            i = code.match[i] - 1;
        else if (is_name_or_number(code, i) || joins.has(code[i]))
            --i;
        else
            break;
    }
    return i + 1;
}

bool is_zero(std::string_view number) { return number == "0" || number == "0u" || number == "0U"; }

/// Return whether the tokens [begin, end) are compared with 0, or are a whole condition.
bool is_tested(const Stream& code, int begin, int end) {
    static const Words before("( && || ; { } , ? = return"), after(") && || ; , ?"), conditions("if while !");
    const bool is_equal = (code[end] == "=" || code[end] == "!") && code[end + 1] == "=";
    if (is_equal && is_zero(code[end + 2])) return before.has(code[begin - 1]) && after.has(code[end + 3]);
    return code[begin - 1] == "(" && code.match[begin - 1] == end && conditions.has(code[begin - 2]);
}

void warn_of_remainder(Context& context, int i) {
    const Stream& code = context.unit.code;
    const int divisor_end = after_operand(code, i + 1);
    if (divisor_end == i + 1 || code[divisor_end] != "*") return;
    int end = divisor_end;
    while (end < i + max_product && code[end] == "*" && after_operand(code, end + 1) > end + 1)
        end = after_operand(code, end + 1);
    const int begin = product_begin(code, i);
    if (end == divisor_end || begin == i || !is_tested(code, begin, end)) return;
    const std::string value = code.text(begin, i), divisor = code.text(i + 1, divisor_end),
                      factor = code.text(divisor_end + 1, end);
    context.warn(code.tokens[i], "this is (" + value + " % " + divisor + ") * " + factor +
                                     "; for the remainder by the product, write " + value + " % (" + divisor + " * " +
                                     factor + ")");
}

}  // namespace

void warn_of_remainders(Context& context) {
    const Stream& code = context.unit.code;
    for (int i = 0; i < code.size(); ++i)
        if (code[i] == "%") warn_of_remainder(context, i);
}

}  // namespace warplab::rewriter
