#include "grader/cpu/rewriter/qualifiers.h"

namespace warplab::rewriter {
namespace {

unsigned plain(std::string_view word) {
    static const std::unordered_map<std::string_view, unsigned> words = {
        {"__shared__", q_shared},     {"__global__", q_global},   {"__device__", q_device}, {"__host__", q_host},
        {"__constant__", q_constant}, {"__managed__", q_managed}, {"extern", q_extern},     {"static", q_static},
    };
    const auto found = words.find(word);
    return found == words.end() ? 0 : found->second;
}

constexpr unsigned cuda_words = q_shared | q_global | q_device | q_constant | q_managed;

}  // namespace

Qualifiers::Qualifiers(const Unit& unit) {
    for (const auto& macro : unit.macros) {
        const unsigned words = of_macro(macro);
        if (words & cuda_words) aliases_[macro.name] = words;
    }
}

unsigned Qualifiers::of(std::string_view word) const {
    if (const unsigned words = plain(word)) return words;
    const auto alias = aliases_.find(word);
    return alias == aliases_.end() ? 0 : alias->second;
}

/// An alias is a macro of nothing but such words, or one that begins a kernel whose body follows its use.
unsigned Qualifiers::of_macro(const Macro& macro) const {
    unsigned words = 0;
    bool only_words = !macro.has_parameters, has_body = false;
    const Stream& body = macro.body;
    for (int i = 0; i < body.size(); ++i) {
        const unsigned word = of(body, i);
        const bool silent = body[i] == "void" || body[i] == "inline" || body[i] == "__forceinline__" ||
                            body[i] == "__noinline__" || body.tokens[i].kind == Kind::string;
        if (word == 0 && !silent) only_words = false;
        if (body[i] == "{" || body[i] == "<<<") has_body = true;
        words |= word;
    }
    if (only_words) return words;
    const bool complete = has_body || body[body.size() - 1] == ";";
    return complete ? 0 : words & q_global;
}

}  // namespace warplab::rewriter
