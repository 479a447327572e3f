#include "grader/judge/compile/resources.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <sstream>

namespace warplab {
namespace {

/// Return the function's own name in a mangled name: k of _ZN2ns1kILi256EEvPf and of _Z1k4Pair. Demangling the whole
/// name could use all memory, because a short name can stand for types of any length.
std::string own_name(const std::string& mangled) {
    if (!mangled.starts_with("_Z")) return mangled;
    const bool is_nested = mangled.starts_with("_ZN");
    std::size_t at = mangled.find_first_not_of("NKVrL", 2), begin = at, length = 0;
    while (at < mangled.size() && (is_nested || length == 0) && std::isdigit(static_cast<unsigned char>(mangled[at]))) {
        const auto [end, error] = std::from_chars(&mangled[at], mangled.data() + mangled.size(), length);
        begin = static_cast<std::size_t>(end - mangled.data());
        if (error != std::errc() || length > mangled.size() - begin) return mangled;
        at = begin + length;
    }
    return length == 0 ? mangled : mangled.substr(begin, length);
}

/// Remove the bracketed part that ends the text, if there is one.
void cut_bracket(std::string& text, char open, char close) {
    if (text.empty() || text.back() != close) return;
    int depth = 0;
    for (std::size_t at = text.size(); at-- > 0;) {
        depth += text[at] == close ? 1 : text[at] == open ? -1 : 0;
        if (depth > 0) continue;
        text.resize(at);
        return;
    }
}

std::string between(const std::string& text, const std::string& before, char after) {
    const auto at = text.find(before);
    if (at == std::string::npos) return "";
    const auto begin = at + before.size();
    return text.substr(begin, text.find(after, begin) - begin);
}

/// Return the number before `words`; 0 if they do not occur.
int number_before(const std::string& text, const std::string& words) {
    const auto at = text.find(words);
    if (at == std::string::npos) return 0;
    auto begin = at;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1]))) --begin;
    return std::atoi(text.substr(begin, at - begin).c_str());
}

}  // namespace

std::string plain_kernel_name(std::string name) {
    cut_bracket(name, '(', ')');
    cut_bracket(name, '<', '>');
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; };
    const auto before_name = std::find_if_not(name.rbegin(), name.rend(), is_part);
    return {before_name.base(), name.end()};
}

std::map<std::string, KernelResources> read_resource_report(const std::string& report) {
    std::map<std::string, KernelResources> kernels;
    KernelResources* kernel = nullptr;
    std::istringstream lines(report);
    for (std::string line; std::getline(lines, line);) {
        if (const std::string name = between(line, "Compiling entry function '", '\''); !name.empty())
            kernel = &kernels[own_name(name)];
        if (!kernel) continue;
        kernel->registers = std::max(kernel->registers, number_before(line, " registers"));
        kernel->spilled_bytes = std::max(kernel->spilled_bytes, number_before(line, " bytes spill stores"));
    }
    return kernels;
}

}  // namespace warplab
