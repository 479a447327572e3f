#include "grader/cpu/rewriter/variables.h"

#include <algorithm>

#include "grader/cpu/rewriter/words.h"

namespace warplab::rewriter {
namespace {

bool is_pointer_word(std::string_view word) {
    static const Words words("* & && const __restrict__ __restrict restrict");
    return words.has(word);
}

}  // namespace

Variable* Variables::find(std::string_view name, int at) {
    const auto iterator = by_name_.find(name);
    if (iterator == by_name_.end()) return nullptr;
    for (const int i : iterator->second)
        if (all_[i].from <= at && at < all_[i].to) return &all_[i];
    return nullptr;
}

void Variables::add_one(Variable variable) {
    by_name_[variable.name].push_back(static_cast<int>(all_.size()));
    all_.push_back(std::move(variable));
}

bool Variables::add_parameters(int open, int end) {
    const int close = stream_.match[open];
    Variable parameter;
    const auto add_parameter = [&](int after) {
        parameter.origin = Variable::parameter;
        parameter.from = parameter.declaration = open;
        parameter.to = end;
        if (parameter.at) add_one(parameter);
        parameter = {};
        parameter.begin = after;
    };
    bool in_default = false;
    for (int i = open + 1; i <= close; i = stream_.after_group(i)) {
        const auto text = stream_[i];
        if (text == "..." || text == "(") return false;
        if (text == "<" && !in_default) {
            i = after_angles(stream_, i) - 1;
            if (i < 0) return false;
        } else if (text == "," || i == close) {
            add_parameter(i + 1);
            in_default = false;
        } else if (text == "=") {
            in_default = true;
        } else if (!in_default) {
            parameter.is_pointer |= text == "*" || text == "[";
            parameter.is_reference |= text == "&" || text == "&&";
            parameter.is_const = (parameter.is_const && text != "*") || text == "const";
            if (stream_.is_identifier(i) && !is_pointer_word(text)) {
                parameter.at = i;
                parameter.name = text;
            }
        }
    }
    return true;
}

void Variables::add(const Declaration& declaration, int to, Variable::Origin origin) {
    int specifiers_end = 0;
    const auto& declarators = declaration.declarators;
    for (std::size_t k = 0; k < declarators.size(); ++k) {
        Variable variable;
        variable.origin = origin;
        variable.declaration = declaration.begin;
        variable.at = variable.from = declarators[k].name_begin;
        variable.to = to;
        variable.name = stream_[variable.at];
        variable.begin = variable.at;
        while (is_pointer_word(stream_[variable.begin - 1])) --variable.begin;
        if (k == 0) specifiers_end = variable.begin;
        variable.specifiers_end = specifiers_end;
        variable.bounds_end = declarators[k].end;
        variable.end = declaration.end;
        variable.is_initialised = declarators[k].initialised;
        variable.is_constructed =
            declarators[k].initialised && stream_[variable.bounds_end] != "=" && stream_[variable.bounds_end] != "{";
        variable.is_array = stream_[variable.at + 1] == "[";
        for (int i = variable.begin; i < variable.at; ++i) {
            variable.is_pointer |= stream_[i] == "*";
            variable.is_reference |= stream_[i] == "&" || stream_[i] == "&&";
            variable.is_const = (variable.is_const && stream_[i] != "*") || stream_[i] == "const";
        }
        for (int i = declaration.begin; i < specifiers_end; ++i)
            variable.is_const |= stream_[i] == "constexpr" || (stream_[i] == "const" && !variable.is_pointer);
        if (k > 0 && !all_.empty()) all_.back().end = variable.begin - 1;  // the comma
        // Declarators that are not understood, such as `(*rows)[4]`, count as references, which are not supported.
        variable.is_reference |= k > 0 && stream_[variable.begin - 1] != ",";
        variable.is_reference |= stream_[variable.begin - 1] == "(";
        add_one(std::move(variable));
    }
}

bool Variables::are_distinct() const {
    for (const auto& [name, indices] : by_name_)
        for (const int a : indices)
            for (const int b : indices)
                if (a != b && all_[a].from < all_[b].to && all_[b].from < all_[a].to) return false;
    return true;
}

bool Variables::is_assignment(int i) const {
    static const Words operators("+ - * / % & | ^ <<");
    const auto text = stream_[i], next = stream_[i + 1];
    if (text == "=") return !(next == "=" && touches_next(i));
    if (text == ">") return next == ">=" && touches_next(i);
    return operators.has(text) && next == "=" && touches_next(i);
}

bool Variables::is_increment(int i) const {
    return (stream_[i] == "+" || stream_[i] == "-") && stream_[i + 1] == stream_[i] && touches_next(i);
}

bool Variables::may_change(int i) const {
    const auto before = stream_[i - 1], next = stream_[i + 1];
    if (next == "." || next == "[" || next == "->" || is_increment(i + 1) || is_increment(i - 2)) return true;
    const bool declares = stream_.is_identifier(i - 1) || before == "*" || before == ">";
    if (is_assignment(i + 1)) return !(declares && next == "=");
    const bool after_operand = stream_.is_identifier(i - 2) || stream_[i - 2] == ")" || stream_[i - 2] == "]";
    if (before == "&" && !after_operand) return true;
    const bool is_argument = (before == "(" || before == ",") && (next == ")" || next == ",");
    const int open = is_argument ? stream_.around[i] : -1;
    return open > 0 && stream_[open] == "(" && stream_.is_identifier(open - 1) &&
           calls_.may_change_arguments(stream_[open - 1]);
}

/// Return whether a ( groups an expression rather than the arguments of a call.
bool Variables::is_plain_group(int open) const {
    const auto before = stream_[open - 1];
    const bool after_word = stream_.is_identifier(open - 1) && before != "return";
    return stream_[open] == "(" && !after_word && before != ")" && before != "]" && before != ">";
}

void Variables::find_changes(int begin, int end) {
    for (int i = begin; i < end; ++i) {
        if (stream_[i] == ")" && (is_assignment(i + 1) || is_increment(i + 1))) note_group(i);
        if (stream_[i] == "&" || stream_[i] == "&&") note_reference(i);
        if (!stream_.is_identifier(i) || is_member(i)) continue;
        if (Variable* variable = find(stream_[i], i); variable && variable->at != i) note_use(i, *variable);
        if (!unit_.macro_names.count(stream_[i]) || !calls_.may_change_arguments(stream_[i])) continue;
        for (const auto word : words_of_macro(stream_[i]))
            if (Variable* variable = find(word, i)) variable->escapes = true;
    }
}

/// Record an assignment to the expression in parentheses that ends at `close`.
void Variables::note_group(int close) {
    const int open = stream_.match[close];
    if (open < 0 || !is_plain_group(open) || stream_[open - 1] == "*") return;
    mark_all(open, close);
}

/// Record a reference: `T& name = …`, or `T& name : …` of a loop.
void Variables::note_reference(int i) {
    const bool after_type = stream_.is_identifier(i - 1) || stream_[i - 1] == ">";
    if (!after_type || !stream_.is_identifier(i + 1)) return;
    const auto after = stream_[i + 2];
    const bool binds = (after == "=" && is_assignment(i + 2)) || after == ":" || after == "(" || after == "{";
    if (!binds) return;
    int end = i + 2;
    while (stream_.has(end) && stream_[end] != ";" && stream_[end] != ")" && stream_[end] != "}")
        end = stream_.after_group(end);
    mark_all(i + 2, end);
}

/// Record that code may change the variables in the tokens [begin, end), and has references to them.
void Variables::mark_all(int begin, int end) {
    for (int i = begin; i < end; ++i) {
        Variable* variable = stream_.is_identifier(i) && !is_member(i) ? find(stream_[i], i) : nullptr;
        if (!variable) continue;
        const bool elsewhere = variable->is_pointer && !variable->is_array && stream_[i + 1] == "[";
        if (elsewhere) continue;
        variable->changes.push_back(i);
        variable->escapes = true;
    }
}

void Variables::note_use(int i, Variable& variable) {
    int first = i, next = i + 1;
    bool direct = true;  // whether this is the variable itself or a part of it
    for (bool continues = true; continues;) {
        continues = false;
        if (stream_[next] == "[" && stream_.match[next] > next) {
            if (variable.is_pointer && !variable.is_array) direct = false;
            next = stream_.match[next] + 1;
            continues = true;
        } else if (stream_[next] == "." && stream_.is_identifier(next + 1)) {
            if (stream_[next + 2] == "(" && direct) return variable.changes.push_back(i);
            next += 2;
            continues = true;
        } else if (stream_[next] == "->") {
            if (!variable.is_pointer) variable.changes.push_back(i);
            return;
        } else if (stream_[next] == ")" && stream_.match[next] == first - 1 && is_plain_group(first - 1)) {
            --first;
            ++next;
            continues = true;
        }
    }
    if (variable.is_array && stream_[i + 1] != "[" && stream_[i - 2] != "sizeof") variable.escapes = true;
    if (stream_[i + 1] == "(") variable.changes.push_back(i), variable.escapes = true;  // an object that is called
    if (!direct) return;
    const auto before = stream_[first - 1];
    const bool through = before == "*" && variable.is_pointer;  // *p = x
    if ((is_assignment(next) && !through) || is_increment(next) || is_increment(first - 2))
        variable.changes.push_back(i);
    const bool after_operand = (stream_.is_identifier(first - 2) && stream_[first - 2] != "return") ||
                               stream_[first - 2] == ")" || stream_[first - 2] == "]" ||
                               (stream_.has(first - 2) && stream_.tokens[first - 2].kind == Kind::number);
    if (before == "&" && !after_operand) variable.escapes = true;
    note_argument(first, next, variable, i);
}

/// Record that a call may change its argument by reference.
void Variables::note_argument(int first, int next, Variable& variable, int at) {
    const auto before = stream_[first - 1], after = stream_[next];
    const bool is_argument =
        (before == "(" || before == "," || before == "{") && (after == ")" || after == "," || after == "}");
    const int open = is_argument ? stream_.around[first] : -1;
    if (open < 1) return;
    int callee = open - 1;
    if (stream_[callee] == ">")  // the end of template arguments
        while (callee > 0 && stream_[callee] != "<" && stream_[callee] != ";") --callee;
    if (stream_[callee] == "<") --callee;
    const bool declares = stream_.is_identifier(callee) && stream_.is_identifier(callee - 1) &&
                          stream_[callee - 1] != "return" && stream_[callee - 1] != "else";
    if (declares) --callee;  // Walk walk(first): the constructor has the name of its class
    if (!stream_.is_identifier(callee) || stream_[callee] == "return") return;
    if (!calls_.may_change_arguments(stream_[callee])) return;
    variable.changes.push_back(at);
    if (declares || stream_[open] == "{" || !calls_.is_function(stream_[callee])) variable.escapes = true;
}

const std::vector<std::string_view>& Variables::words_of_macro(std::string_view name) const {
    const auto [entry, is_new] = words_.try_emplace(name);
    if (!is_new) return entry->second;
    std::unordered_set<std::string_view> seen = {name};
    std::vector<std::string_view> pending = {name}, found;
    while (!pending.empty()) {
        const auto macro_name = pending.back();
        pending.pop_back();
        for (const Macro& macro : unit_.macros) {
            if (macro.name != macro_name) continue;
            for (int i = 0; i < macro.body.size(); ++i) {
                const auto word = macro.body[i];
                if (!macro.body.is_identifier(i) || !seen.insert(word).second) continue;
                found.push_back(word);
                if (unit_.macro_names.count(word)) pending.push_back(word);
            }
        }
    }
    return words_[name] = std::move(found);
}

}  // namespace warplab::rewriter
