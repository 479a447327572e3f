#include "grader/cpu/rewriter/edits.h"

#include <algorithm>
#include <tuple>

namespace warplab::rewriter {

Edited Edits::apply(std::string_view source) const {
    std::vector<const Edit*> order;
    for (const auto& edit : edits_) order.push_back(&edit);
    std::stable_sort(order.begin(), order.end(), [](const Edit* a, const Edit* b) {
        return std::tie(a->begin, a->end) < std::tie(b->begin, b->end);
    });
    Edited result;
    std::size_t at = 0;
    for (const Edit* edit : order) {
        if (edit->begin < at) continue;
        result.text.append(source, at, edit->begin - at);
        result.places.push_back({result.text.size(), edit->begin, edit->shows, false});
        result.text += edit->text;
        at = edit->end;
        result.places.push_back({result.text.size(), at, at, true});
    }
    result.text.append(source, at);
    return result;
}

}  // namespace warplab::rewriter
