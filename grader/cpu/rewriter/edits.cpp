#include "grader/cpu/rewriter/edits.h"

#include <algorithm>
#include <tuple>

namespace warplab::rewriter {

std::string Edits::apply(std::string_view source) const {
    std::vector<const Edit*> order;
    for (const auto& edit : edits_) order.push_back(&edit);
    std::ranges::stable_sort(
        order, [](const Edit* a, const Edit* b) { return std::tie(a->begin, a->end) < std::tie(b->begin, b->end); });
    std::string result;
    std::size_t at = 0;
    for (const Edit* edit : order) {
        if (edit->begin < at) continue;
        result.append(source, at, edit->begin - at);
        result += edit->text;
        at = edit->end;
    }
    result.append(source, at);
    return result;
}

}  // namespace warplab::rewriter
