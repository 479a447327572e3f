#include "grader/cpu/runtime/unfenced.h"

#include <algorithm>

namespace warplab_cpu {

void UnfencedWrites::note_atomic(std::uint32_t block, std::uintptr_t word, bool reads, bool writes) {
    const auto known = announced_.find(word);
    if (reads && known != announced_.end()) {
        if (listener_ != block) heard_.clear();
        listener_ = block;
        heard_[word] = announcements_;
    }
    if (!writes || !writers_.contains(block)) return;
    if (known == announced_.end() && announced_.size() == most_words) return;
    if (announced_[word].try_emplace(block, announcements_ + 1).second) ++announcements_;
}

bool UnfencedWrites::has_heard(std::uint32_t reader, std::uint32_t writer) const {
    return std::ranges::any_of(heard_, [&](const auto& one) { return has_heard_by(one.first, reader, writer); });
}

bool UnfencedWrites::has_heard_by(std::uintptr_t word, std::uint32_t reader, std::uint32_t writer) const {
    const auto heard = heard_.find(word);
    if (listener_ != reader || heard == heard_.end()) return false;
    const auto& blocks = announced_.at(word);
    const auto announcement = blocks.find(writer);
    return announcement != blocks.end() && announcement->second <= heard->second;
}

}  // namespace warplab_cpu
