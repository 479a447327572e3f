#include <algorithm>

#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/passes.h"

namespace warplab::rewriter {
namespace {

constexpr unsigned symbol_words = q_constant | q_device | q_managed;

std::string_view kind_of(unsigned words) {
    if (words & q_constant) return "constant";
    return words & q_managed ? "managed" : "device";
}

void refuse_in_function(const Stream& stream, int word, const Declaration& declaration, Context& context) {
    if (declaration.words & (q_static | q_extern)) return;
    context.refuse(stream.tokens[word], "a " + std::string(stream[word]) +
                                            " variable is declared outside of all functions; move this above the "
                                            "kernel, or leave the word away for a variable of each thread's own");
}

/// Return whether token `i` is a word of a variable's declaration, after its template parameters.
bool declares_variable(const Stream& stream, int i, const Context& context) {
    int begin = statement_begin(stream, i);
    while (stream[begin] == "template" && stream[begin + 1] == "<") {
        const int after = after_angles(stream, begin + 1);
        if (after < 0 || after > i) return false;
        begin = after;
    }
    const auto declaration = read_declaration(stream, context.qualifiers, begin);
    const auto& words = declaration.word_tokens;
    return declaration.understood && std::find(words.begin(), words.end(), i) != words.end();
}

/// Return whether no registration can name the variable: it is in a function, a class or a macro, or is a template.
bool is_unlisted(const Stream& stream, int i, const Context& context) {
    const bool is_template = stream.at_namespace[i] && stream[statement_begin(stream, i)] == "template";
    return (is_template || !stream.at_namespace[i]) && declares_variable(stream, i, context);
}

}  // namespace

void note_unlisted_symbols(const Unit& unit, Context& context) {
    bool any = false;
    const auto look_at = [&](const Stream& stream) {
        for (int i = 0; !any && i < stream.size(); ++i) {
            const unsigned words = context.qualifiers.of(stream, i);
            any = (words & symbol_words) && !(words & (q_shared | q_global)) && is_unlisted(stream, i, context);
        }
    };
    look_at(unit.code);
    for (const Macro& macro : unit.macros) look_at(macro.body);
    if (any && unit.code.size() != 0)
        context.edits.insert_before(unit.code.tokens.front(), "WARPLAB_CPU_UNLISTED_SYMBOLS; ");
}

void register_symbols(const Stream& stream, Context& context) {
    const auto device = device_depth(stream, context.qualifiers);
    for (int i = 0; i < stream.size(); ++i) {
        const unsigned words = context.qualifiers.of(stream, i);
        if (!(words & symbol_words) || (words & (q_shared | q_global))) continue;
        if (!stream.at_namespace[i] && device[i] == 0) continue;
        const auto declaration = read_declaration(stream, context.qualifiers, statement_begin(stream, i));
        if (!declaration.understood || declaration.end <= i || (declaration.words & (q_shared | q_global))) continue;
        if (!stream.at_namespace[i]) {
            refuse_in_function(stream, i, declaration, context);
            continue;
        }
        std::string registrations;
        for (const auto& declarator : declaration.declarators) {
            const bool elsewhere = (declaration.words & q_extern) && !declarator.initialised;
            if (elsewhere || declarator.qualified) continue;
            registrations += " WARPLAB_CPU_SYMBOL(" + std::string(stream[declarator.name_begin]) + ", " +
                             std::string(kind_of(declaration.words)) + ");";
        }
        context.edits.insert_after(stream.tokens[declaration.end], registrations);
        i = declaration.end;
    }
}

/// A macro of this name would break libstdc++, so only the student's text is changed, and not inside an attribute.
void rewrite_noinline(const Stream& stream, Context& context) {
    for (int i = 0; i < stream.size(); ++i) {
        const auto before = stream[i - 1];
        if (stream[i] != "__noinline__" || before == "(" || before == "," || before == "::") continue;
        context.edits.replace(stream.tokens[i], "WARPLAB_CPU_NOINLINE");
    }
}

}  // namespace warplab::rewriter
