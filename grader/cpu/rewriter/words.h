#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace warplab::rewriter {

/// A fixed set of tokens, written as one literal with spaces between them.
class Words {
  public:
    explicit Words(std::string_view text) {
        for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
            end = std::min(text.find(' ', begin), text.size());
            words_.insert(text.substr(begin, end - begin));
        }
    }
    bool has(std::string_view word) const { return words_.count(word) != 0; }

  private:
    std::unordered_set<std::string_view> words_;
};

}  // namespace warplab::rewriter
