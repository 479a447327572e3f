#include "grader/cpu/rewriter/splices.h"

#include <algorithm>

#include "grader/cpu/rewriter/tokenizer.h"

namespace warplab::rewriter {

bool is_spliced(std::string_view gap) {
    if (gap.empty()) return true;
    const auto ends_of_lines = std::count(gap.begin(), gap.end(), '\n');
    return gap.front() == '\\' && gap.back() == '\n' &&
           gap.find_first_not_of("\\ \t\r\f\v\n") == std::string_view::npos &&
           std::count(gap.begin(), gap.end(), '\\') == ends_of_lines;
}

std::string join_split_tokens(std::string_view source) {
    const auto tokens = tokenize(source);
    std::string joined;
    std::size_t copied = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::size_t begin = tokens[i].begin;
        std::string text(tokens[i].text), splices;
        for (; i + 1 < tokens.size(); ++i) {
            const auto gap = source.substr(tokens[i].end, tokens[i + 1].begin - tokens[i].end);
            if (gap.empty() || !is_spliced(gap)) break;
            const std::string longer = text + std::string(tokens[i + 1].text);
            if (tokenize(longer).size() > 1) break;  // together, they may begin a comment
            text = longer;
            splices += gap;
        }
        if (splices.empty()) continue;
        joined.append(source.substr(copied, begin - copied)).append(text).append(splices);
        copied = tokens[i].end;
    }
    return joined.append(source.substr(copied));
}

}  // namespace warplab::rewriter
