#include <algorithm>
#include <optional>
#include <unordered_set>

#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

using Names = std::unordered_set<std::string_view>;

constexpr unsigned symbol_words = q_constant | q_device | q_managed;

std::string_view kind_of(unsigned words) {
    if (words & q_constant) return "constant";
    return words & q_managed ? "managed" : "device";
}

void refuse_in_function(const Stream& stream, int word, const Declaration& declaration, Context& context) {
    if (declaration.words & (q_static | q_extern)) return;
    context.refuse(stream.tokens[word], "a " + std::string(stream[word]) +
                                            " variable is declared outside of all functions; move this above the "
                                            "kernel, or omit the word for a separate variable in each thread");
}

constexpr int max_scan_tokens = 512;  // the same as max_search_tokens in declaration.cpp

/// Return the declaration with the word at `i` if it is understood and declares device variables.
std::optional<Declaration> nameable_declaration(const Stream& stream, int i, const Context& context) {
    auto declaration = read_declaration(stream, context.qualifiers, statement_begin(stream, i, &context.qualifiers));
    const auto& words = declaration.word_tokens;
    const bool has_word = std::ranges::find(words, i) != words.end();
    if (!declaration.understood || !has_word || (declaration.words & (q_shared | q_global))) return {};
    return declaration;
}

/// Return whether the declaration certainly lists all its variables, by names without a class or namespace.
bool is_complete(const Stream& stream, const Declaration& declaration) {
    if (declaration.may_have_more) return false;
    // An #if may select a part of the declaration.
    for (int i = declaration.begin; i <= declaration.end; i = stream.after_group(i))
        if (stream.branch[i] != stream.branch[declaration.begin]) return false;
    return std::ranges::none_of(declaration.declarators,
                                [](const Declarator& declarator) { return declarator.qualified; });
}

/// Return whether `i` is directly in a class, where variables cannot have initialisers in parentheses.
bool is_in_class(const Stream& stream, int i) {
    static const Words of_functions("const noexcept override mutable else do try volatile");
    const int before = stream.block[i] - 1;
    return stream[before] == ">" || (stream.is_identifier(before) && !of_functions.has(stream[before]));
}

Names defined_functions(const Stream& code) {
    Names names;
    for (int i = 0; i < code.size(); ++i)
        if (code.is_identifier(i) && code[i + 1] == "(" && code[code.after_group(i + 1)] == "{") names.insert(code[i]);
    return names;
}

/// Return whether the word at `i` certainly belongs to a function or a lambda.
bool belongs_to_function(const Stream& stream, int i, const Names& functions, const Context& context) {
    int before = i - 1;
    while (before > i - max_scan_tokens && context.qualifiers.of(stream, before)) --before;
    const bool after_captures = stream[before] == "]" && stream[stream.match[before] + 1] != "[";
    if (after_captures) return true;
    const auto after = [&](int at) {
        const int after_arguments = stream[at] == "<" ? after_angles(stream, at) : -1;
        return after_arguments > 0 ? after_arguments : stream.after_group(at);
    };
    for (int at = i + 1, steps = 0; stream.has(at) && steps < max_scan_tokens; at = after(at), ++steps) {
        const auto text = stream[at], previous = stream[at - 1];
        if (text == "operator" || text == "~") return true;
        if (text == ";" || text == "=" || text == "}") return false;
        if (text == "{") return previous == ")";  // the body of a lambda, or of a function that uses macros
        if (text == "->") return true;
        if (text != "(" || is_attribute_word(previous) || previous == "decltype" || !stream.is_identifier(at - 1))
            continue;
        if (stream.is_identifier(stream.after_group(at)) && context.unit.macro_names.count(previous)) continue;
        const auto parentheses = read_parentheses(stream, at);
        if (parentheses != Parentheses::unknown) return parentheses == Parentheses::parameters;
        return is_in_class(stream, i) || functions.count(previous);
    }
    return false;
}

/// Return whether the word at `i` may declare a variable that is not registered.
bool may_be_unlisted(const Stream& stream, int i, const Names& functions, const Context& context) {
    const bool is_template = stream[statement_begin(stream, i, &context.qualifiers)] == "template";
    if (stream.at_namespace[i] && !is_template)
        if (const auto declaration = nameable_declaration(stream, i, context))
            return !is_complete(stream, *declaration);
    return !belongs_to_function(stream, i, functions, context);
}

/// Return whether the word at `i` declares a static variable of a function that is neither shared nor constant. If the
/// function is device code, CUDA places the variable in device memory.
bool is_static_local(const Stream& stream, int i, const Context& context) {
    if (stream[i] != "static" || is_in_class(stream, i)) return false;
    bool is_constant = false;
    for (int at = statement_begin(stream, i, &context.qualifiers); stream.has(at); ++at) {
        const auto text = stream[at];
        if (context.qualifiers.of(stream, at) & q_shared) return false;
        if (text == ";" || text == "=" || text == "{" || text == "[" || text == "(") break;
        if (text == "const" || text == "constexpr") is_constant = true;
        if (text == "*") is_constant = false;
    }
    return !is_constant;
}

/// Return "::" if names from a using directive may collide with the file's variables and no macro can open a namespace;
/// otherwise "".
std::string_view global_prefix(const Unit& unit) {
    const auto has = [](const Stream& stream, std::string_view first, std::string_view second) {
        for (int i = 0; i < stream.size(); ++i)
            if (stream[i] == first && (second.empty() || stream[i + 1] == second)) return true;
        return false;
    };
    for (const Macro& macro : unit.macros)
        if (has(macro.body, "namespace", "")) return "";
    return has(unit.code, "using", "namespace") ? "::" : "";
}

/// Register the static variables that the declaration with the word at `i` declares in a function.
void register_static_locals(const Stream& stream, int i, Context& context) {
    const int begin = statement_begin(stream, i, &context.qualifiers);
    const auto declaration = read_declaration(stream, context.qualifiers, begin);
    if (!declaration.understood || !is_complete(stream, declaration)) return;
    for (int at = begin; at < declaration.end; at = stream.after_group(at))
        if (stream[at] == "&" || stream[at] == "&&") return;  // a reference has no separate address
    std::string registrations;
    for (const auto& declarator : declaration.declarators)
        registrations += " WARPLAB_CPU_STATIC_SYMBOL(" + std::string(stream[declarator.name_begin]) + ", " +
                         std::string(kind_of(declaration.words)) + ");";
    context.edits.insert_after(stream.tokens[declaration.end], registrations);
}

}  // namespace

void note_unlisted_symbols(const Unit& unit, Context& context) {
    const Names functions = defined_functions(unit.code);
    bool any = false;
    const auto search = [&](const Stream& stream) {
        const auto device = device_depth(stream, context.qualifiers), both = both_depth(stream, context.qualifiers);
        for (int i = 0; !any && i < stream.size(); ++i) {
            const unsigned words = context.qualifiers.of(stream, i);
            any = (words & symbol_words) && !(words & (q_shared | q_global)) &&
                  may_be_unlisted(stream, i, functions, context);
            any = any || ((device[i] > 0 || both[i] > 0) && is_static_local(stream, i, context));
        }
    };
    search(unit.code);
    for (const Macro& macro : unit.macros)
        if (!context.qualifiers.is_alias(macro)) search(macro.body);
    if (any && unit.code.size() != 0)
        context.edits.insert_before(unit.code.tokens.front(), "WARPLAB_CPU_UNLISTED_SYMBOLS; ");
}

void register_symbols(const Stream& stream, Context& context) {
    const auto device = device_depth(stream, context.qualifiers);
    for (int i = 0; i < stream.size(); ++i) {
        if (device[i] > 0 && is_static_local(stream, i, context)) register_static_locals(stream, i, context);
        const unsigned words = context.qualifiers.of(stream, i);
        if (!(words & symbol_words) || (words & (q_shared | q_global))) continue;
        if (!stream.at_namespace[i] && device[i] == 0) continue;
        const auto declaration = nameable_declaration(stream, i, context);
        if (!declaration) continue;
        if (!stream.at_namespace[i]) {
            refuse_in_function(stream, i, *declaration, context);
            continue;
        }
        std::string registrations;
        for (const auto& declarator : declaration->declarators) {
            const bool is_defined_elsewhere = (declaration->words & q_extern) && !declarator.initialised;
            if (is_defined_elsewhere || declarator.qualified) continue;
            const bool is_global = stream.block[i] < 0;
            if (is_global && !context.symbol_prefix) context.symbol_prefix = global_prefix(context.unit);
            registrations += " WARPLAB_CPU_SYMBOL(" + std::string(is_global ? *context.symbol_prefix : "") +
                             std::string(stream[declarator.name_begin]) + ", " +
                             std::string(kind_of(declaration->words)) + ");";
        }
        context.edits.insert_after(stream.tokens[declaration->end], registrations);
        i = declaration->end;
    }
}

/// Rewrite __noinline__ only in the student's text and outside attributes: a macro with this name would break
/// libstdc++.
void rewrite_noinline(const Stream& stream, Context& context) {
    for (int i = 0; i < stream.size(); ++i) {
        const auto before = stream[i - 1];
        if (stream[i] != "__noinline__" || before == "(" || before == "," || before == "::") continue;
        context.edits.replace(stream.tokens[i], "WARPLAB_CPU_NOINLINE");
    }
}

}  // namespace warplab::rewriter
