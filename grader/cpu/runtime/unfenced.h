#pragma once
// Volatile writes of global memory that a block announced by an atomic without a fence before it. A block that reads
// the atomic's word, as the last block to finish does, may still read the old values.

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace warplab_cpu {

/// The announcements of one grid. Blocks that take turns forget what they have heard, so nothing is found there.
class UnfencedWrites {
  public:
    void begin_grid() {
        if (writers_.empty()) return;
        *this = {};
    }
    bool any() const { return !writers_.empty(); }
    void note_volatile_write(std::uint32_t block) { writers_.insert(block); }
    /// Record an atomic of a word of global memory.
    void note_atomic(std::uint32_t block, std::uintptr_t word, bool reads, bool writes);
    /// Return whether `reader` has read a word that `writer` updated after a volatile write.
    bool has_heard(std::uint32_t reader, std::uint32_t writer) const;
    /// Return whether `reader` has read this word after `writer` updated it after a volatile write.
    bool has_heard_by(std::uintptr_t word, std::uint32_t reader, std::uint32_t writer) const;

  private:
    static constexpr std::size_t most_words = 4096;  // counters are few; a kernel's bins are many

    std::unordered_set<std::uint32_t> writers_;
    // By word, and by block: the number of the block's first announcement.
    std::unordered_map<std::uintptr_t, std::unordered_map<std::uint32_t, std::uint64_t>> announced_;
    std::uint64_t announcements_ = 0;
    std::uint32_t listener_ = 0;  // the block that read the words in `heard_`
    // By word: the number of announcements when the block last read it.
    std::unordered_map<std::uintptr_t, std::uint64_t> heard_;
};

}  // namespace warplab_cpu
