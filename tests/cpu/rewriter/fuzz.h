#pragma once
// Invariants of the rewriter for any input.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/cpu/rewriter/rewriter.h"
#include "tests/fuzz/mutator.h"

namespace warplab::rewriter::test {

/// Tokens of CUDA source.
inline const std::vector<std::string> source_words = {"<<<",
                                                      ">>>",
                                                      "<",
                                                      ">",
                                                      "(",
                                                      ")",
                                                      "{",
                                                      "}",
                                                      "[",
                                                      "]",
                                                      ",",
                                                      ";",
                                                      "::",
                                                      "##",
                                                      "\n#define A",
                                                      "\n#if 0\n",
                                                      "\n#else\n",
                                                      "\n#endif\n",
                                                      "\n#if X\n",
                                                      "/*",
                                                      "*/",
                                                      "//",
                                                      "\"",
                                                      "'",
                                                      "\\\n",
                                                      "R\"(",
                                                      ")\"",
                                                      "=",
                                                      "__shared__ ",
                                                      "extern ",
                                                      "__global__ void k() {",
                                                      "__device__ int x",
                                                      "__constant__ ",
                                                      "k<<<1, 2>>>(p)",
                                                      "[=]",
                                                      "template ",
                                                      "struct ",
                                                      "decltype(",
                                                      "alignas(",
                                                      "\xFF",
                                                      "\r\n",
                                                      "#",
                                                      "namespace n {",
                                                      ":",
                                                      "a<",
                                                      "a::",
                                                      "x",
                                                      "*",
                                                      "#if A\n",
                                                      "__syncthreads();",
                                                      "for (int i = 0; i < n; ++i) ",
                                                      "int t = threadIdx.x;",
                                                      "t += n;"};

/// Return whether the rewriter accepts `source`. Throw if it breaks an invariant.
inline bool check_invariants(const std::string& source, Barriers barriers) {
    const auto result = rewrite(source, "a.cu", barriers);
    const auto shown = show_problems(result, "a.cu");
    if (shown.empty() != result.problems.empty()) throw std::logic_error("a problem is not shown");
    if (!result.problems.empty()) {
        for (const auto& problem : result.problems) {
            if (problem.at > result.source.size()) throw std::logic_error("a problem lies outside the file");
        }
        return false;
    }
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    if (lines(result.text) != lines(source) + 1) throw std::logic_error("a line was added or lost");
    if (result.text.size() > 200 * source.size() + 1000) throw std::logic_error("the output is far too large");
    return true;
}

/// Check with kernels split at barriers, then with fibers, and return whether the rewriter accepts `source` both times.
/// If it does not accept it the first time, skip the second.
inline bool check_invariants(const std::string& source) {
    return check_invariants(source, Barriers::split) && check_invariants(source, Barriers::by_fibers);
}

}  // namespace warplab::rewriter::test
