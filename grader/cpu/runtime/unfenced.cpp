#include "grader/cpu/runtime/unfenced.h"

#include <algorithm>

namespace warplab_cpu {

void UnfencedWrites::note_write(std::uint32_t block, unsigned thread, std::uintptr_t word, bool atomic) {
    ++now_;
    if (writer_ != block) writes_since_fence_.fill(0);
    writer_ = block;
    const bool first_after_fence = writes_since_fence_[thread % writes_since_fence_.size()]++ == 0;
    if (first_writes_.contains(block) && (signals_.size() < max_words || signals_.contains(word)))
        signals_[word][block] = now_;
    if (atomic) return;
    first_writes_.try_emplace(block, now_);
    if (writes_.size() < max_writes || writes_.contains(word)) writes_[word] = {block, first_after_fence, now_};
}

void UnfencedWrites::note_read(std::uint32_t block, std::uintptr_t word, std::uint32_t place) {
    if (!signals_.contains(word)) return;
    if (reader_ != block) reads_.clear();
    reader_ = block;
    reads_[word] = {place, now_};
}

bool UnfencedWrites::has_read_signal(std::uint32_t reader, std::uintptr_t word, std::uint32_t place,
                                     bool had_fence) const {
    const auto write = writes_.find(word);
    if (reader_ != reader || write == writes_.end()) return false;
    const auto [writer, first_after_fence, when] = write->second;
    if (had_fence && first_after_fence) return false;
    return std::ranges::any_of(reads_, [&](const auto& entry) {
        const auto& [flag, read] = entry;
        return flag != word && read.place != place && when < find_signal(flag, writer);
    });
}

bool UnfencedWrites::has_read_word_since(std::uintptr_t word, std::uint32_t reader, std::uint32_t writer) const {
    return reader_ == reader && find_signal(word, writer) != 0;
}

std::uint64_t UnfencedWrites::find_signal(std::uintptr_t flag, std::uint32_t writer) const {
    const auto last_read = reads_.find(flag);
    if (last_read == reads_.end()) return 0;
    const auto& blocks = signals_.at(flag);
    const auto signal = blocks.find(writer);
    const bool was_read = signal != blocks.end() && signal->second <= last_read->second.when;
    return was_read ? signal->second : 0;
}

}  // namespace warplab_cpu
