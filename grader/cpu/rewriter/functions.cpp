#include <algorithm>

#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

/// Return the { of the body that follows the parameters of a function, perhaps after `noexcept` or a type; 0 if the
/// function is only declared.
int find_body(const Stream& code, int end) {
    static const Words before_body("{ noexcept -> try requires");
    if (!before_body.has(code[end])) return 0;
    for (int i = end; i < code.size() && code[i] != ";" && code[i] != "=" && code[i] != "}"; ++i) {
        if (code[i] == "{") return i;
        if (code[i] == "(" || code[i] == "[") i = std::max(i, code.match[i]);
    }
    return 0;
}

}  // namespace

std::vector<Function> find_functions(const Context& context) {
    const Stream& code = context.unit.code;
    const auto is_macro = [&](int i) { return context.unit.macro_names.count(code[i]) != 0; };
    std::vector<Function> functions;
    for (int i = 0; i < code.size(); ++i) {
        if (!code.is_identifier(i) || !code.at_namespace[i] || code[i + 1] != "(" || is_macro(i)) continue;
        if (is_attribute_word(code[i]) || code[i] == "decltype") continue;
        Function function{.begin = statement_begin(code, i), .name = i, .end = code.match[i + 1] + 1};
        if (function.end == 0 || function.begin == i) continue;
        function.after_macro = code[function.begin - 1] == ")";  // the end of a macro's arguments
        function.body = find_body(code, function.end);
        for (int k = function.begin; k < i; ++k) {
            const unsigned words = context.qualifiers.of(code, k);
            function.words |= words;
            function.after_macro |= is_macro(k) && words == 0;
        }
        functions.push_back(function);
    }
    return functions;
}

bool is_in_class_body(const Stream& stream, int i) {
    const int brace = stream.block[i];
    for (int k = statement_begin(stream, brace - 1); brace > 0 && k < brace; ++k)
        if (stream[k] == "class" || stream[k] == "struct" || stream[k] == "union") return true;
    return false;
}

}  // namespace warplab::rewriter
