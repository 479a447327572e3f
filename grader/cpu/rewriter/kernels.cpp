#include <set>
#include <unordered_set>

#include "grader/cpu/rewriter/declaration.h"
#include "grader/cpu/rewriter/passes.h"
#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {

Definition find_definition(const Stream& stream, const Qualifiers& qualifiers, int word) {
    static const Words not_parameters("noexcept decltype requires");
    Definition definition;
    for (int i = word + 1; stream.has(i); i = stream.after_group(i)) {
        const auto text = stream[i];
        if (text == ";" || text == "}" || (text == "=" && stream[i - 1] != "operator")) break;
        if (qualifiers.of(stream, i) & (q_global | q_device)) break;
        if (text == "(" && !not_parameters.has(stream[i - 1]) && !is_attribute_word(stream[i - 1]))
            definition.parameters = i;
        if (text == "{") {
            definition.body = definition.parameters < 0 ? -1 : i;
            break;
        }
    }
    return definition;
}

namespace {

bool has_host_qualifier(const Stream& stream, const Qualifiers& qualifiers, int word) {
    constexpr int max_words = 8;
    for (int i = word; stream.is_identifier(i) && i > word - max_words; --i) {
        if (qualifiers.of(stream, i) & q_host) return true;
    }
    for (int i = word; stream.is_identifier(i) && i < word + max_words; ++i) {
        if (qualifiers.of(stream, i) & q_host) return true;
    }
    return false;
}

/// Return the names of the parameters in the parentheses at `parameters`.
std::unordered_set<std::string_view> parameter_names(const Stream& stream, int parameters) {
    std::unordered_set<std::string_view> names;
    for (int i = parameters + 1; i < stream.match[parameters]; ++i) {
        const auto before = stream[i - 1], after = stream[i + 1];
        const bool typed = stream.is_identifier(i - 1) || before == "*" || before == "&" || before == ">";
        const bool ends = after == "," || after == ")" || after == "[" || after == "=";
        if (stream.is_identifier(i) && typed && ends) names.insert(stream[i]);
    }
    return names;
}

/// Return whether the launch bounds use the name of one of the kernel's parameters: in the body, it would denote the
/// parameter.
bool hides_bounds(const Stream& stream, int parameters, int bounds_begin, int body) {
    if (stream.match[parameters] < 0) return true;
    const auto names = parameter_names(stream, parameters);
    for (int i = bounds_begin; i < body; ++i)
        if (i == parameters)
            i = stream.match[parameters];
        else if (names.count(stream[i]))
            return true;
    return false;
}

std::string kernel_name(const Stream& stream, const Qualifiers& qualifiers, int parameters) {
    const int begin = callee_begin(stream, parameters - 1);
    const bool after_macro = begin == parameters - 1 && (qualifiers.of(stream, begin) & q_global);
    if (begin < 0 || after_macro) return name_literal(stream, parameters + 1, parameters + 2);
    return name_literal(stream, begin, parameters);
}

void check_returns_void(const Stream& stream, int word, int parameters, Context& context) {
    static const Words others("int float double bool char short long unsigned size_t auto");
    const int name = callee_begin(stream, parameters - 1);
    const bool type_follows = stream[stream.after_group(parameters)] == "->";
    for (int i = word + 1; i < name && !type_follows; i = stream.after_group(i)) {
        if (!others.has(stream[i])) continue;
        context.refuse(stream.tokens[i],
                       "a __global__ function returns nothing; write 'void' and return results "
                       "through a pointer to device memory");
        return;
    }
}

/// Refuse a parameter that is a reference: it would refer to a variable of the host, which a GPU cannot reach.
void check_has_no_references(const Stream& stream, int parameters, Context& context) {
    for (int i = parameters + 1; i < stream.match[parameters]; i = stream.after_group(i)) {
        if (stream[i] != "&" && stream[i] != "&&") continue;
        if (!stream.is_identifier(i - 1) || !(stream.is_identifier(i + 1) || stream[i + 1] == ",")) continue;
        return context.refuse(stream.tokens[i],
                              "a kernel's parameter cannot be a reference: the GPU cannot reach the host's variable; "
                              "pass it by value, without &");
    }
}

/// Refuse a variable of the body, outside inner braces, that has a parameter's name. g++ would accept it, because the
/// rewritten body is an inner block.
void check_names(const Stream& stream, const Definition& definition, Context& context) {
    if (stream.match[definition.parameters] < 0) return;
    const auto parameters = parameter_names(stream, definition.parameters);
    const auto has_parenthesis = [&](int begin, int end) {  // as in a call, which can look like a declaration
        while (begin < end && stream[begin] != "(") ++begin;
        return begin < end;
    };
    for (int i = definition.body + 1; i < stream.match[definition.body]; i = stream.after_group(i)) {
        const auto before = stream[i - 1];
        if (!stream.is_identifier(i) || begins_other_statement(stream[i]) ||
            (before != ";" && before != "{" && before != "}"))
            continue;
        const Declaration declaration = read_declaration(stream, context.qualifiers, i);
        if (!declaration.understood) continue;
        for (const Declarator& declarator : declaration.declarators)
            if (const auto name = stream[declarator.name_begin];
                !declarator.qualified && parameters.count(name) && !has_parenthesis(i, declarator.name_begin))
                return context.refuse(
                    stream.tokens[declarator.name_begin],
                    std::string(name) + " is already a parameter of this kernel; give the variable another name");
    }
}

void check_is_not_member(const Stream& stream, int word, Context& context) {
    if (stream.is_macro || !is_in_class_body(stream, word)) return;
    for (int i = statement_begin(stream, word); i < word; ++i)
        if (stream[i] == "friend") return;
    context.refuse(stream.tokens[word],
                   "a kernel cannot be a member of a class; move the __global__ function out of the class");
}

/// Return the macro `name` if its text has this bracket. With an empty name, return the first macro whose text has this
/// bracket without the matching one. Return null if no macro matches.
const Macro* find_brace_macro(const Context& context, std::string_view name, std::string_view bracket) {
    for (const Macro& macro : context.unit.macros) {
        if (!name.empty() && macro.name != name) continue;
        for (int i = 0; i < macro.body.size(); ++i)
            if (macro.body[i] == bracket && (!name.empty() || macro.body.match[i] < 0)) return &macro;
    }
    return nullptr;
}

/// Refuse a kernel whose `{` comes from a macro, because only the code itself is searched for bodies. Return whether
/// such a macro was found.
bool refuse_hidden_begin(const Stream& stream, int word, Context& context) {
    for (int i = word + 1; stream.has(i) && stream[i] != ";" && stream[i] != "{" && stream[i] != "}";
         i = stream.after_group(i)) {
        if (!context.unit.macro_names.count(stream[i]) || !find_brace_macro(context, stream[i], "{")) continue;
        if (context.qualifiers.of(stream, i)) continue;
        context.refuse_for_cpu(stream.tokens[i],
                               "the CPU backend cannot find this kernel's body, because its '{' is in "
                               "the macro '" +
                                   std::string(stream[i]) + "'; write the kernel's '{' and '}' without a macro");
        return true;
    }
    return false;
}

/// Refuse a kernel whose `}` comes from a macro.
void refuse_hidden_end(const Stream& stream, int body, Context& context) {
    if (const Macro* macro = find_brace_macro(context, "", "}"))
        context.refuse_for_cpu(stream.tokens[body],
                               "the CPU backend cannot find the end of this kernel, because a '}' is "
                               "in the macro '" +
                                   std::string(macro->name) + "'; write the kernel's '{' and '}' without a macro");
}

/// Refuse the address of a label (&&label), which nvcc refuses and a lambda cannot have.
void check_has_no_label_addresses(const Stream& stream, int body, Context& context) {
    std::unordered_set<std::string_view> labels;
    for (int i = body + 1; i < stream.match[body]; ++i) {
        const auto before = stream[i - 1];
        const bool begins = before == ";" || before == "{" || before == "}" || before == ":" || before == ")";
        if (begins && stream.is_identifier(i) && stream[i + 1] == ":") labels.insert(stream[i]);
    }
    for (int i = body + 1; i < stream.match[body]; ++i)
        if (stream[i] == "&&" && labels.count(stream[i + 1]) && !stream.is_identifier(i - 1))
            return context.refuse(stream.tokens[i], "a GPU has no addresses of labels; write 'goto " +
                                                        std::string(stream[i + 1]) + ";', or a switch");
}

}  // namespace

void rewrite_kernels(const Stream& stream, Context& context) {
    std::set<int> closed;
    for (int i = 0; i < stream.size(); ++i) {
        if (!(context.qualifiers.of(stream, i) & q_global)) continue;
        if (!stream.is_macro && refuse_hidden_begin(stream, i, context)) continue;
        const auto definition = find_definition(stream, context.qualifiers, i);
        if (definition.parameters < 0) continue;
        check_returns_void(stream, i, definition.parameters, context);
        check_has_no_references(stream, definition.parameters, context);
        check_is_not_member(stream, i, context);
        if (definition.body < 0) continue;
        const int end = stream.match[definition.body];
        if (end < 0) {
            if (stream.is_macro) {
                context.refuse_for_cpu(stream.tokens[i],
                                       "a kernel that begins in a macro and ends outside of it cannot run on the CPU "
                                       "backend; let it end in the macro, or write it without the macro");
            } else {
                refuse_hidden_end(stream, definition.body, context);
            }
            continue;
        }
        check_names(stream, definition, context);
        check_has_no_label_addresses(stream, definition.body, context);
        const auto name = kernel_name(stream, context.qualifiers, definition.parameters);
        const int begin = statement_begin(stream, i);
        const auto bounds = context.qualifiers.launch_bounds(stream, begin, definition.body);
        const bool is_known = !bounds.empty() && !hides_bounds(stream, definition.parameters, begin, definition.body);
        const std::string bound = is_known ? ", ::warplab_cpu::launch_bounds(" + bounds + ")" : "";
        const bool is_split = !stream.is_macro && context.splits.count(definition.body);
        const std::string macro = is_split ? "WARPLAB_CPU_SPLIT_KERNEL(" : "WARPLAB_CPU_KERNEL(";
        context.edits.insert_after(stream.tokens[definition.body], macro + name + bound + "){");
        if (closed.insert(end).second) context.edits.insert_after(stream.tokens[end], ";}");
    }
}

namespace {

std::vector<int> depth_in(const Stream& stream, const Qualifiers& qualifiers, bool for_host_too) {
    std::vector<int> depth(stream.tokens.size() + 1, 0);
    for (int i = 0; i < stream.size(); ++i) {
        const unsigned words = qualifiers.of(stream, i);
        if (!(words & (q_global | q_device))) continue;
        if ((!(words & q_global) && has_host_qualifier(stream, qualifiers, i)) != for_host_too) continue;
        const int body = find_definition(stream, qualifiers, i).body;
        if (body < 0 || stream.match[body] < 0) continue;
        ++depth[body];
        --depth[stream.match[body]];
    }
    for (std::size_t i = 1; i < depth.size(); ++i) depth[i] += depth[i - 1];
    return depth;
}

}  // namespace

std::vector<int> device_depth(const Stream& stream, const Qualifiers& qualifiers) {
    return depth_in(stream, qualifiers, false);
}
std::vector<int> both_depth(const Stream& stream, const Qualifiers& qualifiers) {
    return depth_in(stream, qualifiers, true);
}

}  // namespace warplab::rewriter
