#include "grader/cpu/rewriter/qualifiers.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "grader/cpu/rewriter/declaration.h"

namespace warplab::rewriter {
namespace {

/// Return the qualifier that is written as this word; 0 for other words.
unsigned qualifier_of(std::string_view word) {
    static const std::unordered_map<std::string_view, unsigned> words = {
        {"__shared__", q_shared},     {"__global__", q_global},   {"__device__", q_device}, {"__host__", q_host},
        {"__constant__", q_constant}, {"__managed__", q_managed}, {"extern", q_extern},     {"static", q_static},
    };
    const auto iterator = words.find(word);
    return iterator == words.end() ? 0 : iterator->second;
}

using Arguments = std::vector<std::string>;

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Return the arguments of a use of a macro. `open` is the position of the (.
Arguments arguments_at(const Stream& stream, int open) {
    Arguments arguments;
    const int close = stream.match[open];
    for (int begin = open + 1, i = begin; i <= close; i = stream.after_group(i)) {
        if (i != close && stream[i] != ",") continue;
        arguments.push_back(stream.text(begin, i));
        begin = i + 1;
    }
    return arguments;
}

constexpr std::size_t max_bounds_bytes = 1000;  // the expansion of nested macros could grow without limit

/// Return the text with the arguments substituted for the macro's parameters, and further arguments for __VA_ARGS__.
/// Return an empty string if the text becomes too long.
std::string substitute(const std::string& text, const Macro& macro, const Arguments& arguments) {
    std::string remaining, result;
    for (std::size_t i = macro.parameters.size(); i < arguments.size(); ++i)
        remaining += (remaining.empty() ? "" : ", ") + arguments[i];
    for (std::size_t at = 0; at < text.size();) {
        if (result.size() > max_bounds_bytes) return "";
        const std::size_t begin = at;
        while (at < text.size() && is_word_character(text[at])) ++at;
        if (at == begin) {
            result += text[at++];
            continue;
        }
        const std::string word = text.substr(begin, at - begin);
        const auto iterator = std::ranges::find(macro.parameters, word);
        const auto index = static_cast<std::size_t>(iterator - macro.parameters.begin());
        result += word == "__VA_ARGS__"                                            ? remaining
                  : index < arguments.size() && iterator != macro.parameters.end() ? arguments[index]
                                                                                   : word;
    }
    return result;
}

constexpr unsigned cuda_words = q_shared | q_global | q_device | q_constant | q_managed;

}  // namespace

Qualifiers::Qualifiers(const Unit& unit) {
    find_attribute_macros(unit);
    for (const auto& macro : unit.macros) {
        const unsigned words = of_macro(macro);
        if (words & cuda_words) aliases_[macro.name] = words;
        if (words & q_shared) attributes_of_aliases_[macro.name] = attributes_in(macro.body);
        auto bounds = launch_bounds(macro.body, 0, macro.body.size());
        if (bounds.find('#') != std::string::npos) bounds.clear();  // ## works only in a macro's text
        const auto [known, is_new] = bounds_.try_emplace(macro.name, Bounds{&macro, bounds});
        if (!is_new && known->second.arguments != bounds) known->second.arguments.clear();
    }
}

bool Qualifiers::has_only_attributes(const Stream& body) const {
    int i = 0;
    for (int after = 0; i < body.size(); i = after)
        if ((after = after_attribute(body, i)) == i) return false;
    return true;
}

/// Find the macros that contain only attributes. In another branch of an #if, such a macro may be empty.
void Qualifiers::find_attribute_macros(const Unit& unit) {
    std::unordered_set<std::string_view> others;
    for (const auto& macro : unit.macros) {
        if (!has_only_attributes(macro.body)) others.insert(macro.name);
        if (macro.body.size() > 0 && !others.count(macro.name)) attributes_[macro.name] = macro.has_parameters;
        if (others.count(macro.name)) attributes_.erase(macro.name);
    }
}

std::vector<std::string> Qualifiers::attributes_in(const Stream& body) const {
    std::vector<std::string> attributes;
    for (int i = 0, after = 0; i < body.size(); i = std::max(after, i + 1))
        if ((after = after_attribute(body, i)) > i) attributes.push_back(body.text(i, after));
    return attributes;
}

std::vector<std::string> Qualifiers::attributes_of(std::string_view word) const {
    const auto iterator = attributes_of_aliases_.find(word);
    return iterator == attributes_of_aliases_.end() ? std::vector<std::string>() : iterator->second;
}

int Qualifiers::after_attribute(const Stream& stream, int i) const {
    if (stream[i] == "[" && stream[i + 1] == "[") return stream.after_group(i);
    const bool called = stream[i + 1] == "(";
    if (is_attribute_word(stream[i]) && called) return stream.after_group(i + 1);
    const auto macro = stream.is_identifier(i) ? attributes_.find(stream[i]) : attributes_.end();
    if (macro == attributes_.end() || macro->second != called) return i;
    return called ? stream.after_group(i + 1) : i + 1;
}

std::string Qualifiers::launch_bounds(const Stream& stream, int begin, int end) const {
    for (int i = begin; i < end; i = stream.after_group(i)) {
        if (!stream.is_identifier(i)) continue;
        const bool called = stream[i + 1] == "(" && stream.match[i + 1] >= 0;
        if (stream[i] == "__launch_bounds__" && called) return stream.text(i + 2, stream.match[i + 1]);
        const auto iterator = bounds_.find(stream[i]);
        if (iterator == bounds_.end() || iterator->second.arguments.empty()) continue;
        const auto& [macro, arguments] = iterator->second;
        if (macro->has_parameters != called) continue;
        const auto text = called ? substitute(arguments, *macro, arguments_at(stream, i + 1)) : arguments;
        return text.size() <= max_bounds_bytes ? text : "";
    }
    return "";
}

unsigned Qualifiers::of(std::string_view word) const {
    if (const unsigned words = qualifier_of(word)) return words;
    const auto alias = aliases_.find(word);
    return alias == aliases_.end() ? 0 : alias->second;
}

/// Return the qualifiers that a use of the macro represents. They are 0 unless the macro contains only qualifiers, or
/// begins a kernel whose body follows the use.
unsigned Qualifiers::of_macro(const Macro& macro) const {
    unsigned words = 0;
    bool only_words = !macro.has_parameters, has_body = false;
    const Stream& body = macro.body;
    for (int i = 0; i < body.size(); ++i) {
        const unsigned word = of(body, i);
        const bool is_neutral = body[i] == "void" || body[i] == "inline" || body[i] == "__forceinline__" ||
                                body[i] == "__noinline__" || body.tokens[i].kind == Kind::string;
        const int after = after_attribute(body, i);
        const bool is_attribute = after > i && !(words & q_global);
        if (word == 0 && !is_neutral && !is_attribute) only_words = false;
        if (is_attribute) i = after - 1;
        if (body[i] == "{" || body[i] == "<<<") has_body = true;
        words |= word;
    }
    if (only_words) return words;
    const bool is_complete = has_body || body[body.size() - 1] == ";";
    return is_complete ? 0 : words & q_global;
}

}  // namespace warplab::rewriter
