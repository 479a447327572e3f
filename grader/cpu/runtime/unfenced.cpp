#include "grader/cpu/runtime/unfenced.h"

#include <algorithm>

namespace warplab_cpu {

void UnfencedWrites::note_write(std::uint32_t block, unsigned thread, std::uintptr_t word, bool atomic) {
    ++now_;
    if (writer_ != block) writes_since_fence_.fill(0);
    writer_ = block;
    const bool first_after_fence = writes_since_fence_[thread % writes_since_fence_.size()]++ == 0;
    if (first_writes_.contains(block) && (announced_.size() < max_words || announced_.contains(word)))
        announced_[word][block] = now_;
    if (atomic) return;
    first_writes_.try_emplace(block, now_);
    if (writes_.size() < max_writes || writes_.contains(word)) writes_[word] = {block, first_after_fence, now_};
}

void UnfencedWrites::note_read(std::uint32_t block, std::uintptr_t word, std::uint32_t place) {
    if (!announced_.contains(word)) return;
    if (listener_ != block) heard_.clear();
    listener_ = block;
    heard_[word] = {place, now_};
}

bool UnfencedWrites::has_read_announcement(std::uint32_t reader, std::uintptr_t word, std::uint32_t place,
                                           bool had_fence) const {
    const auto write = writes_.find(word);
    if (listener_ != reader || write == writes_.end()) return false;
    const auto [writer, first_after_fence, when] = write->second;
    if (had_fence && first_after_fence) return false;
    return std::ranges::any_of(heard_, [&](const auto& entry) {
        const auto& [flag, read] = entry;
        return flag != word && read.place != place && when < find_announcement(flag, writer);
    });
}

bool UnfencedWrites::has_read_word_since(std::uintptr_t word, std::uint32_t reader, std::uint32_t writer) const {
    return listener_ == reader && find_announcement(word, writer) != 0;
}

std::uint64_t UnfencedWrites::find_announcement(std::uintptr_t flag, std::uint32_t writer) const {
    const auto heard = heard_.find(flag);
    if (heard == heard_.end()) return 0;
    const auto& blocks = announced_.at(flag);
    const auto announcement = blocks.find(writer);
    const bool was_read = announcement != blocks.end() && announcement->second <= heard->second.when;
    return was_read ? announcement->second : 0;
}

}  // namespace warplab_cpu
