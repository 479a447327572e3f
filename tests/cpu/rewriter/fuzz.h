#pragma once
// Deterministic mutations of CUDA source, and what must hold for whatever comes of them.

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/cpu/rewriter/rewriter.h"

namespace warplab::rewriter::test {

class Mutator {
  public:
    Mutator(std::vector<std::string> seeds, std::uint32_t seed) : seeds_(std::move(seeds)), random_(seed) {}

    std::string next() {
        if (below(20) == 0) return random_bytes();
        std::string text = pick(seeds_);
        if (below(4) == 0) text = text.substr(0, below(text.size() + 1));
        for (std::size_t changes = 1 + below(6); changes > 0; --changes) change(text);
        return text;
    }

  private:
    std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
    const std::string& pick(const std::vector<std::string>& from) { return from[below(from.size())]; }

    std::string random_bytes() {
        std::string text(below(3000), '\0');
        for (char& c : text) c = static_cast<char>(below(8) == 0 ? below(256) : 1 + below(127));
        return text;
    }

    void change(std::string& text) {
        static const std::vector<std::string> words = {"<<<",
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
                                                       ":"};
        const std::size_t at = below(text.size() + 1), length = std::min(below(40), text.size() - at);
        switch (below(7)) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(at, text.substr(at, length));
                break;
            case 2:
                text.insert(at, pick(words));
                break;
            case 3:
                text.replace(at, length, pick(words));
                break;
            case 4:
                insert_many(text, at);
                break;
            case 5:
                insert_part_of_another(text, at);
                break;
            default:
                if (at < text.size()) text[at] = static_cast<char>(1 + below(255));
        }
    }

    void insert_many(std::string& text, std::size_t at) {
        static const std::vector<std::string> repeated = {"<",   ">", "(", "[",       "{",        "a<",
                                                          "a::", "x", "*", "#if A\n", "\n#else\n"};
        const auto& word = pick(repeated);
        std::string many;
        for (std::size_t count = below(300); count > 0; --count) many += word;
        text.insert(at, many);
    }

    void insert_part_of_another(std::string& text, std::size_t at) {
        const auto& other = pick(seeds_);
        text.insert(at, other.substr(below(other.size() + 1), below(200)));
    }

    std::vector<std::string> seeds_;
    std::mt19937 random_;
};

/// Throws when the rewriter breaks a promise for `source`; returns whether it was accepted.
inline bool check_promises(const std::string& source) {
    const auto result = rewrite(source, "a.cu");
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

}  // namespace warplab::rewriter::test
