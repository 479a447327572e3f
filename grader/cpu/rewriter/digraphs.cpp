#include "grader/cpu/rewriter/digraphs.h"

#include <string_view>

#include "grader/cpu/rewriter/splices.h"
#include "grader/cpu/rewriter/tokenizer.h"

namespace warplab::rewriter {
namespace {

class Digraphs {
  public:
    explicit Digraphs(std::string& source) : source_(source), original_(source), tokens_(tokenize(original_)) {}

    void replace() {
        for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
            if (is_empty_brackets(i)) {
                write({i, i + 1}, "[ ");
                source_[tokens_[i + 1].begin + 1] = ']';
                write({i + 2}, " ");
                i += 2;
            } else if (is_digraph(i, '%', ':') && i + 3 < tokens_.size() && joins_next(i + 1) &&
                       is_digraph(i + 2, '%', ':')) {
                write({i, i + 1, i + 2, i + 3}, "##  ");
                i += 3;
            } else if (const char meaning = meaning_at(i)) {
                write({i, i + 1}, {meaning, ' '});
                ++i;
            }
        }
    }

  private:
    char first_of(std::size_t i) const { return tokens_[i].text.front(); }

    /// Return whether nothing, or only line splices, separates a token from the next one.
    bool joins_next(std::size_t i) const {
        return is_spliced(std::string_view(original_).substr(tokens_[i].end, tokens_[i + 1].begin - tokens_[i].end));
    }

    bool is_digraph(std::size_t i, char first, char second) const {
        return tokens_[i].kind == Kind::punctuation && tokens_[i].text.size() == 1 && first_of(i) == first &&
               tokens_[i + 1].kind == Kind::punctuation && first_of(i + 1) == second && joins_next(i);
    }

    /// Return whether the tokens < :: > at `i` are two digraphs. C++ reads `<::` as `<` and `::` unless `:` or `>`
    /// follows.
    bool is_empty_brackets(std::size_t i) const {
        return i + 2 < tokens_.size() && is_digraph(i, '<', ':') && tokens_[i + 1].text == "::" &&
               first_of(i + 2) == '>' && joins_next(i + 1);
    }

    char meaning_at(std::size_t i) const {
        if (is_digraph(i, '<', ':')) return tokens_[i + 1].text == "::" ? '\0' : '[';
        if (is_digraph(i, ':', '>')) return ']';
        if (is_digraph(i, '<', '%')) return '{';
        if (is_digraph(i, '%', '>')) return '}';
        return is_digraph(i, '%', ':') ? '#' : '\0';
    }

    /// Write one character at the beginning of each token.
    void write(std::initializer_list<std::size_t> at, std::string characters) {
        std::size_t next = 0;
        for (const std::size_t i : at) source_[tokens_[i].begin] = characters[next++];
    }

    std::string& source_;
    const std::string original_;
    const std::vector<Token> tokens_;
};

}  // namespace

void replace_digraphs(std::string& source) { Digraphs(source).replace(); }

}  // namespace warplab::rewriter
