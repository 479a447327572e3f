// Replaces inline PTX that needs no GPU with functions of the runtime: empty text, as in
// `asm volatile("" ::: "memory")`, and reads of a special register, as in `asm("mov.u32 %0, %%laneid;" : "=r"(lane));`.

#include <string>
#include <unordered_map>

#include "grader/cpu/rewriter/passes.h"

namespace warplab::rewriter {
namespace {

bool is_asm(std::string_view word) { return word == "asm" || word == "__asm__" || word == "__asm"; }

/// Return the runtime's function for the special register that the text's only instruction reads; empty for other
/// texts.
std::string_view register_function(std::string_view text) {
    static const std::unordered_map<std::string_view, std::string_view> functions = {
        {"mov.u32%laneid", "lane()"},
        {"mov.u32%smid", "multiprocessor()"},
        {"mov.u32%warpid", "warp()"},
        {"mov.u32%lanemask_eq", "lanes_equal()"},
        {"mov.u32%lanemask_lt", "lanes_below()"},
        {"mov.u32%lanemask_le", "(lanes_below() | ::warplab_cpu::lanes_equal())"},
        {"mov.u32%lanemask_gt", "lanes_above()"},
        {"mov.u32%lanemask_ge", "(lanes_above() | ::warplab_cpu::lanes_equal())"},
        {"mov.u32%clock", "ticks()"},
        {"mov.u64%clock64", "ticks()"},
        {"mov.u64%globaltimer", "ticks()"},
        {"mov.u32%globaltimer_lo", "ticks()"},
    };
    std::string squeezed;
    for (const char c : text)
        if (c != ' ' && c != '"' && squeezed.size() < 64) squeezed += c;
    if (!squeezed.empty() && squeezed.back() == ';') squeezed.pop_back();
    const auto destination = squeezed.find("%0,%");
    if (destination == std::string::npos) return {};
    const bool doubled = squeezed.compare(destination, 5, "%0,%%") == 0;  // nvcc accepts % and %%
    const auto iterator = functions.find(squeezed.erase(destination, doubled ? 4 : 3));
    return iterator == functions.end() ? std::string_view() : iterator->second;
}

struct Replacement {
    int end = -1;  // the token after the asm's )
    std::string text;
};

/// Return the replacement of the asm at `i`; empty if only a GPU can run it.
Replacement replacement_of(const Stream& stream, int i) {
    int open = i + 1;
    while (stream[open] == "volatile" || stream[open] == "__volatile__") ++open;
    if (stream[open] != "(" || stream.match[open] < 0) return {};
    const int text = open + 1, end = stream.match[open] + 1;
    if (stream.has(text + 1) && stream.tokens[text + 1].kind == Kind::string) return {};
    if (stream[text] == "\"\"") return {end, "::warplab_cpu::compiler_fence()"};
    const auto function = register_function(stream[text]);
    const int target = text + 3;
    const bool one_result = stream[text + 1] == ":" && stream.has(target) && stream[target] == "(" &&
                            (stream[text + 2] == "\"=r\"" || stream[text + 2] == "\"=l\"");
    if (function.empty() || !one_result || stream.match[target] < 0) return {};
    const std::string scope = function[0] == '(' ? "(::warplab_cpu::" : "::warplab_cpu::";
    const auto called = std::string(function.substr(function[0] == '('));
    return {end, "(" + stream.text(target + 1, stream.match[target]) + ") = " + scope + called};
}

}  // namespace

bool is_runnable_asm(const Stream& stream, int i) { return is_asm(stream[i]) && replacement_of(stream, i).end >= 0; }

void rewrite_asm(const Stream& stream, Context& context) {
    for (int i = 0; i < stream.size(); ++i) {
        if (!is_asm(stream[i])) continue;
        const Replacement replacement = replacement_of(stream, i);
        if (replacement.end < 0) continue;
        context.edits.replace(stream.tokens[i], replacement.text);
        for (int k = i + 1; k < replacement.end; ++k) context.edits.remove(stream.tokens[k]);
        i = replacement.end - 1;
    }
}

}  // namespace warplab::rewriter
